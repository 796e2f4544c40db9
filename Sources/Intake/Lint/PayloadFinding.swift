/// One thing that is wrong with a Live Activity push.
public struct PayloadFinding: Hashable, Sendable {
    public let kind: Kind
    /// Both from 1, in the text as it was given.
    public let line: Int
    public let column: Int
    /// JSON pointer (RFC 6901) to what is wrong, or to the object that lacks something; empty for the whole.
    public let pointer: String
    /// What is wrong here, in words.
    public let what: String

    /// Who can put it right.
    public enum Responsible: String, Hashable, Sendable {
        /// Whoever builds the payload and its headers.
        case sender
        /// Whoever configures the sender: topic, bundle, push type.
        case `operator`
    }

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        // The text.
        case empty, tooLarge, notJSON, notUTF8, duplicateKey, tooDeep, numberOutOfRange, trailingText, notAnObject
        // The frame.
        case noAps, apsNotAnObject, misplacedKey, unknownKey, silentPush
        case noEvent, unknownEvent
        case noTimestamp, notWholeSeconds, milliseconds, implausibleTime
        case staleOnStart, staleAtOnce, dismissalWithoutEnd, dismissalTooLate, noDismissal
        case noInput, twoInputs, badInput, inputWithoutStart, badRelevance
        case noAttributesType, noAttributes
        // The alert.
        case noAlert, alertNotAnObject, blankAlert, badAlertText, oldLocalization, soundBesideAlert, badSound
        // The content state.
        case noContent, contentNotAnObject, nullValue, millisecondsInContent, dateString, spoiler
        // The headers.
        case badHeaders, repeatedHeader, badPushType, badTopic, badPriority, priorityOfEvent, noExpiration
        case badExpiration, noAttemptLater, expired, noID, badID, noCollapseID, badCollapseID
    }
}

extension PayloadFinding {
    /// The rule of Lanekeeper, or the fact about APNs and iOS (*ref*), that it breaks.
    public var rule: String { kind.meaning.rule }
    /// What APNs or iOS makes of it.
    public var outcome: String { kind.meaning.outcome }
    public var responsible: Responsible { kind.meaning.responsible }
}
