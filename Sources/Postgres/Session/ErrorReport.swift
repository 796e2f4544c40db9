internal import CPostgres

/// The fields of an error or a notice, copied out of a result.
struct ErrorReport {
    /// Its `sqlState` is empty when libpq itself made the error.
    let error: PostgresServerError

    /// - Returns: `nil` for a result that is neither error nor notice.
    init?(_ result: OpaquePointer) {
        let status = PQresultStatus(result)
        guard status == PGRES_FATAL_ERROR || status == PGRES_NONFATAL_ERROR || status == PGRES_PIPELINE_ABORTED else {
            return nil
        }
        func field(_ code: Unicode.Scalar) -> String? {
            PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
        }
        let severity = field("V") ?? field("S") ?? ""
        let text = field("M") ?? PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
        error = PostgresServerError(
            sqlState: field("C") ?? "", isFatal: severity == "FATAL" || severity == "PANIC",
            message: ErrorReport.trimmed(text), detail: field("D"), hint: field("H"), table: field("t"),
            column: field("c"), constraint: field("n"))
    }

    /// libpq ends its texts with a line feed, and breaks and indents some of them.
    static func trimmed(_ text: String) -> String {
        text.split { $0.isNewline || $0 == "\t" }.joined(separator: " ")
    }
}
