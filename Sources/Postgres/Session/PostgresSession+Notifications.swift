internal import CPostgres
internal import TLS

/// What a NOTIFY told. Nothing is kept for a listener that is away: after each `LISTEN` read the tables.
public struct PostgresNotification: Hashable, Sendable {
    public let channel: String
    /// At most 7,999 bytes.
    public let payload: String
    /// The sender's process.
    public let backendPID: Int32
}

extension PostgresSession {
    public mutating func listen(to channel: String) throws(PostgresError) {
        _ = try query("LISTEN \(PostgresText.identifier(channel))")
    }

    /// What has come so far, with or without statements in between. Does not read the socket.
    public mutating func takeNotifications() -> [PostgresNotification] {
        var taken: [PostgresNotification] = []
        while let notification = PQnotifies(raw) {
            taken.append(
                PostgresNotification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra), backendPID: notification.pointee.be_pid))
            PQfreemem(notification)
        }
        return taken
    }

    /// Blocks until one has come; empty after the time or a nudge.
    /// - Parameter timeoutMilliseconds: `nil` waits for ever, 0 only looks.
    public mutating func waitForNotifications(
        timeoutMilliseconds: Int32?
    ) throws(PostgresError) -> [PostgresNotification] {
        try begin()
        while true {
            let taken = takeNotifications()
            guard taken.isEmpty else { return taken }
            let wake = try wait(for: .read, timeoutMilliseconds: timeoutMilliseconds, mayEnd: true)
            guard wake.isReadable else { return [] }
            try consume()
        }
    }
}
