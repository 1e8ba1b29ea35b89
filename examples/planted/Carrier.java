package depot;

import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
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

    Object receive(InputStream stream) throws IOException, ClassNotFoundException {
        // Planted: a carrier decides which classes are built here.
        return new ObjectInputStream(stream).readObject();
    }
}
