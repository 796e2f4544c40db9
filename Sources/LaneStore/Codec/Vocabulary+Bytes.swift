internal import CardRules

// The words of the vocabulary as bytes: each `write` has its `read` beside it.

extension ByteWriter {
    mutating func time(_ value: WallTime) { signed(value.milliseconds) }
    mutating func time(_ value: WallTime?) { optional(value) { $0.time($1) } }
    mutating func id(_ value: some TextIdentifier) { text(value.text) }
    mutating func ids(_ values: [some TextIdentifier]) { list(values) { $0.id($1) } }
    mutating func gateway(_ value: Gateway) { byte(value == .production ? 0 : 1) }
    mutating func text(_ value: String?) { optional(value) { $0.text($1) } }

    mutating func address(_ value: PushAddress) {
        gateway(value.gateway)
        blob(value.token)
    }
}

extension ByteReader {
    mutating func time(_ field: String) throws(CodecFault) -> WallTime {
        WallTime(milliseconds: try signed(field))
    }

    mutating func maybeTime(_ field: String) throws(CodecFault) -> WallTime? {
        try bool(field) ? try time(field) : nil
    }

    mutating func id<ID: TextIdentifier>(_ field: String) throws(CodecFault) -> ID {
        guard let id = ID(try text(field)) else { throw fault(field) }
        return id
    }

    mutating func maybeID<ID: TextIdentifier>(_ field: String) throws(CodecFault) -> ID? {
        try bool(field) ? try id(field) : nil
    }

    mutating func ids<ID: TextIdentifier>(_ field: String) throws(CodecFault) -> [ID] {
        try list(field) { reader throws(CodecFault) in try reader.id(field) }
    }

    mutating func maybeText(_ field: String) throws(CodecFault) -> String? {
        try bool(field) ? try text(field) : nil
    }

    mutating func gateway(_ field: String) throws(CodecFault) -> Gateway {
        try bool(field) ? .sandbox : .production
    }

    mutating func address(_ field: String) throws(CodecFault) -> PushAddress {
        let gateway = try gateway(field)
        return PushAddress(token: try blob(field), gateway: gateway)
    }

    /// A word out of a closed list.
    mutating func word<Word: RawRepresentable>(_ field: String) throws(CodecFault) -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: try text(field)) else { throw fault(field) }
        return word
    }
}
