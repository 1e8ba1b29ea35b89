package depot;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

final class Carrier {
    ResultSet shipments(Connection db, String carrier) throws SQLException {
        PreparedStatement query = db.prepareStatement("SELECT * FROM shipments WHERE carrier = ?");
        query.setString(1, carrier);
        return query.executeQuery();
    }

    boolean isHome(String code) {
        return "HOME".equals(code);
    }

    String receive(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
