@testable import LaneStore

/// What somebody with a tool of his own does to the file.
func runSQLite(_ sql: String, path: String) throws { try SQLiteConnection(path: path).run(sql) }
