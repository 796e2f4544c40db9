internal import CardRules

/// Turns the stream's messages into ticks, and says how far they may be confirmed. Pure.
///
/// A transaction is one tick, and transactions that lie ready together are one too; one that is larger than a tick may be
/// goes in portions. That is no half truth: the server sends a transaction when it is committed.
struct FeedMachine: Sendable {
    /// Lines of one portion.
    static let maximumLines = 2000

    private let settings: FeedSettings
    private let mapper: RowMapper
    private var memory = FeedMemory()
    /// The table's number in the stream, and where each mapped column stands in its rows.
    private var table: (number: UInt32, places: [Int])?
    private var commitTime: WallTime?
    /// Commit times may run a little against the order of the log, which is the truth.
    private var newest = WallTime.distantPast
    private var lines: [SlateLine] = []
    private var notices: [FeedNotice] = []
    /// Where the log has been read to, outside of transactions.
    private var reached = LogPosition.unset
    /// Everything before it is durable here.
    private(set) var confirmed = LogPosition.unset

    init(_ settings: FeedSettings) {
        self.settings = settings
        mapper = RowMapper(settings)
    }

    /// A new stream begins, from what the server was told last.
    mutating func begin() {
        table = nil
        commitTime = nil
        lines = []
        reached = .unset
        confirmed = .unset
    }

    /// What was handed on was not kept: announcements must be told again.
    mutating func forget() { memory = FeedMemory() }

    /// Whether there is something to hand on now.
    var hasTick: Bool { !lines.isEmpty && (commitTime == nil || isFull) }

    var isFull: Bool { lines.count >= FeedMachine.maximumLines }

    mutating func takeTick() -> [SlateLine] {
        defer { lines = [] }
        return lines
    }

    mutating func takeNotices() -> [FeedNotice] {
        defer { notices = [] }
        return notices
    }

    /// Everything taken so far is durable.
    mutating func confirm() {
        guard lines.isEmpty else { return }
        confirmed = max(confirmed, reached)
    }

    // MARK: - The snapshot

    /// A row of the table as it was at the snapshot's time.
    mutating func take(row: [ColumnValue], at time: WallTime) {
        newest = max(newest, time)
        add(row, at: time)
    }

    var columns: [String] { mapper.columns }

    // MARK: - The stream

    /// - Parameter range: one message of the stream, in `bytes`.
    mutating func take(_ bytes: Span<UInt8>, in range: Range<Int>) throws(FeedFault) {
        let message: StreamMessage
        let change: RowChange
        do throws(WireFault) {
            message = try StreamMessage.read(bytes, in: range)
            guard case .data(let range) = message else { return note(message) }
            change = try RowChange.read(bytes, in: range)
        } catch {
            throw .damaged(error)
        }
        switch change {
        case .begin(_, let at):
            newest = max(newest, at.wallTime)
            commitTime = newest
        case .commit(let end, _):
            commitTime = nil
            reached = max(reached, end)
        case .relation(let relation): try bind(relation)
        case .insert(let number, let new): add(number, new, bytes)
        case .update(let number, let key, let new):
            guard number == table?.number else { return }
            // A game that got another id is another game.
            if let key, let old = game(key, bytes), old != game(new, bytes) { remove(old) }
            add(number, new, bytes)
        case .delete(let number, let key):
            guard number == table?.number else { return }
            if let game = game(key, bytes) { remove(game) } else { notices.append(.deleteWithoutGame) }
        case .truncate(let tables):
            guard let table, tables.contains(table.number) else { return }
            notices.append(.truncated)
            lines += memory.removeAll(at: commitTime ?? newest)
        case .origin, .type: return
        }
    }

    private mutating func note(_ message: StreamMessage) {
        // That the server wants an answer says nothing new: one stands before each read.
        guard case .keepalive(let end, _) = message else { return }
        // In the middle of a transaction the server may be ahead of what has been read.
        if commitTime == nil { reached = max(reached, end) }
    }

    private mutating func bind(_ relation: RowChange.Relation) throws(FeedFault) {
        let name = "\(settings.schema).\(settings.table)"
        guard relation.schema == settings.schema, relation.name == settings.table else {
            guard relation.number != table?.number else {
                throw .tableRenamed(table: name, to: "\(relation.schema).\(relation.name)")
            }
            return
        }
        var places: [Int] = []
        for column in mapper.columns {
            guard let place = relation.columns.firstIndex(where: { $0.name == column }) else {
                throw .columnMissing(column: column, table: name, columns: relation.columns.map(\.name))
            }
            places.append(place)
        }
        table = (relation.number, places)
    }

    // MARK: - Rows

    private mutating func add(_ number: UInt32, _ tuple: RowChange.Tuple, _ bytes: Span<UInt8>) {
        guard let values = values(number, tuple, bytes) else { return }
        add(values, at: commitTime ?? newest)
    }

    private mutating func add(_ values: [ColumnValue], at time: WallTime) {
        do throws(RowFault) {
            lines += memory.news(of: try mapper.lines(values, commit: time))
        } catch {
            notices.append(.rowRejected(game: error.game, column: error.column, detail: error.detail))
        }
    }

    private mutating func remove(_ game: GameID) {
        if let line = memory.remove(game, at: commitTime ?? newest) { lines.append(line) }
    }

    private func game(_ tuple: RowChange.Tuple, _ bytes: Span<UInt8>) -> GameID? {
        table.flatMap { $0.number }.flatMap { values($0, tuple, bytes) }.flatMap { mapper.game($0) }
    }

    /// - Returns: `nil` for a table that is not ours. A value that the tuple lacks is one left out.
    private func values(_ number: UInt32, _ tuple: RowChange.Tuple, _ bytes: Span<UInt8>) -> [ColumnValue]? {
        guard let table, table.number == number else { return nil }
        var values: [ColumnValue] = []
        for place in table.places {
            switch tuple.values.indices.contains(place) ? tuple.values[place] : .unchanged {
            case .null: values.append(.null)
            case .unchanged: values.append(.unchanged)
            case .text(let range):
                let text = bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
                values.append(.text(text))
            }
        }
        return values
    }
}
