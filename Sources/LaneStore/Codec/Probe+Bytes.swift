internal import CardRules

extension ByteWriter {
    mutating func probe(_ probe: ProbeCard) {
        text(probe.variant.rawValue)
        gateway(probe.gateway)
        switch probe.state {
        case .waiting(let until):
            byte(0)
            time(until)
        case .starting(let claimedAt):
            byte(1)
            time(claimedAt)
        case .accepted(let at):
            byte(2)
            time(at)
        case .unknown(let since):
            byte(3)
            time(since)
        }
        optional(probe.activity) { $0.id($1) }
    }
}

extension ByteReader {
    mutating func probe(_ field: String) throws(CodecFault) -> ProbeCard {
        let variant: ProbeVariant = try word(field)
        let gateway = try gateway(field)
        let place = try byte(field)
        let at = try time(field)
        let state: ProbeCard.State
        switch place {
        case 0: state = .waiting(until: at)
        case 1: state = .starting(claimedAt: at)
        case 2: state = .accepted(at: at)
        case 3: state = .unknown(since: at)
        default: throw fault(field)
        }
        return ProbeCard(variant: variant, gateway: gateway, state: state, activity: try maybeID(field))
    }
}
