package depot;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.net.Socket;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

final class Carrier {
    ResultSet shipments(Connection db, String carrier) throws SQLException {
        // Planted: the carrier's name becomes part of the statement.
        return db.createStatement().executeQuery("SELECT * FROM shipments WHERE carrier = '" + carrier + "'");
    }

    boolean isHome(String code) {
        // Planted: this asks whether it is the same object, not the same text.
        return code == "HOME";
    }

    Object receive(Socket socket) throws IOException, ClassNotFoundException {
        // Planted: a carrier decides which classes are built here.
        return new ObjectInputStream(socket.getInputStream()).readObject();
    }
}
