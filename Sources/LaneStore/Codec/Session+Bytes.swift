internal import CardRules

// What a lane keeps of sessions and of cards on their way to follow others.

extension ByteWriter {
    mutating func member(_ member: SessionMember) {
        id(member.key)
        signed(member.version)
        ids(member.names)
        bool(member.isOver)
        optional(member.pending) {
            $0.text($1.rule.rawValue)
            $0.time($1.until)
            $0.bool($1.isSuccessor)
        }
    }

    mutating func successor(_ next: Successor) {
        id(next.key)
        int(next.portion)
        time(next.claimedAt)
        switch next.state {
        case .starting: byte(0)
        case .accepted: byte(1)
        case .unknown: byte(2)
        case .refused(let retryAt):
            byte(3)
            time(retryAt)
        }
        time(next.ageBegan)
        optional(next.activity) { $0.id($1) }
        optional(next.updateAddress) { $0.address($1) }
        time(next.tokenReportedAt)
    }
}

extension ByteReader {
    mutating func member(_ field: String) throws(CodecFault) -> SessionMember {
        let key: CardKey = try id(field)
        let version = try signed(field)
        let names: [DeviceID] = try ids(field)
        let isOver = try bool(field)
        let pending = try optional(field) { reader throws(CodecFault) in
            let rule: Rule = try reader.word(field)
            let until = try reader.maybeTime(field)
            return PendingStart(rule: rule, until: until, isSuccessor: try reader.bool(field))
        }
        return SessionMember(key: key, version: version, names: names, isOver: isOver, pending: pending)
    }

    mutating func successor(_ field: String) throws(CodecFault) -> Successor {
        let key: CardKey = try id(field)
        let portion = try int(field)
        let claimed = try time(field)
        var next = Successor(key: key, portion: portion, claimedAt: claimed, state: try state(field))
        next.ageBegan = try maybeTime(field)
        next.activity = try maybeID(field)
        next.updateAddress = try optional(field) { reader throws(CodecFault) in try reader.address(field) }
        next.tokenReportedAt = try maybeTime(field)
        return next
    }

    private mutating func state(_ field: String) throws(CodecFault) -> Successor.State {
        switch try byte(field) {
        case 0: return .starting
        case 1: return .accepted
        case 2: return .unknown
        case 3: return .refused(retryAt: try time(field))
        default: throw fault(field)
        }
    }
}
