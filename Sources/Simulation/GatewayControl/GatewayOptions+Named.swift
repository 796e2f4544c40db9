extension GatewayOptions {
    /// Changes one option by its name on the control port.
    /// - Returns: what is wrong; `nil` when it was done.
    mutating func set(_ name: String, to value: String) -> String? {
        /// `off`, or a whole number within reason.
        func number() -> Int?? {
            if value == "off" { return .some(nil) }
            guard let number = Int(value), (0...1_000_000).contains(number) else { return nil }
            return .some(number)
        }
        switch name {
        case "streams-before":
            guard let number = Int(value), (0...1_000_000).contains(number) else {
                return "\(name) takes a number up to 1000000"
            }
            streamsBefore = number
        case "throttle":
            guard value == "on" || value == "off" else { return "throttle is on or off" }
            throttlesOnErrors = value == "on"
        case "errors-until-goaway":
            guard let number = number() else { return "\(name) takes a number up to 1000000, or off" }
            errorsUntilGoAway = number
        case "excess":
            guard value == "refuse" || value == "goaway" else { return "excess is refuse or goaway" }
            excess = value == "refuse" ? .refuse : .goAway
        case "wedge":
            switch value {
            case "never": wedge = .never
            case "refuse": wedge = .refuse
            case "silence": wedge = .silence
            default: return "wedge is never, refuse or silence"
            }
        case "opens-per-minute":
            guard let number = number() else { return "\(name) takes a number up to 1000000, or off" }
            opensPerMinute = number
        case "per-token":
            guard let number = number() else { return "\(name) takes a number up to 1000000, or off" }
            perTokenPerSecond = number
        case "retry-after":
            guard let number = number() else { return "\(name) takes a number up to 1000000, or off" }
            retryAfterSeconds = number
        case "date-offset":
            if value == "off" {
                dateOffsetSeconds = nil
            } else {
                // Ten years either way.
                guard let number = Int64(value), (-315_360_000...315_360_000).contains(number) else {
                    return "\(name) takes seconds, up to 315360000 either way, or off"
                }
                dateOffsetSeconds = number
            }
        case "answer-seconds":
            guard let seconds = Double(value), (0...3600).contains(seconds) else { return "\(name) takes seconds" }
            answerSeconds = seconds
        default: return "\(name) is no option; try help"
        }
        return nil
    }
}
