extension PayloadFinding.Kind {
    struct Meaning {
        let rule: String
        let outcome: String
        var responsible = PayloadFinding.Responsible.sender
    }

    /// Source: rules of section 3 and 5; facts of ref 1.2, 3, 4.1 to 4.3, 5.1.
    var meaning: Meaning {
        switch self {
        case .empty: Meaning(rule: "ref R8", outcome: "APNs answers 400 PayloadEmpty")
        case .tooLarge: Meaning(rule: "P8", outcome: "APNs answers 413 PayloadTooLarge")
        case .notJSON, .notUTF8, .trailingText, .notAnObject, .noAps, .apsNotAnObject:
            Meaning(rule: "ref R10", outcome: "APNs may still answer 200, iOS drops it")
        case .duplicateKey:
            Meaning(rule: "ref R10", outcome: "decoders disagree on which of the two counts")
        case .tooDeep: Meaning(rule: "ref R10", outcome: "decoders have limits of their own; iOS may drop it")
        case .numberOutOfRange: Meaning(rule: "ref L16", outcome: "it does not decode: the card stays as it is")
        case .misplacedKey, .unknownKey: Meaning(rule: "ref L4", outcome: "iOS does not read it")
        case .silentPush:
            Meaning(rule: "S12", outcome: "iOS may wake the app, which can end a card that has no token yet")
        case .noEvent, .unknownEvent: Meaning(rule: "ref L27", outcome: "iOS drops it: no such event type")
        case .noTimestamp: Meaning(rule: "ref L13", outcome: "required, iOS is taken to drop it")
        case .notWholeSeconds: Meaning(rule: "ref L6", outcome: "iOS cannot read the time")
        case .milliseconds:
            Meaning(
                rule: "ref L6", outcome: "iOS reads seconds: tens of thousands of years ahead, so a push is dropped")
        case .implausibleTime: Meaning(rule: "ref L10", outcome: "iOS drops a push from so far in the past")
        case .staleOnStart: Meaning(rule: "P1", outcome: "the card can go stale at once, and apps end stale cards")
        case .staleAtOnce: Meaning(rule: "ref L26", outcome: "the card goes stale at once")
        case .dismissalWithoutEnd: Meaning(rule: "ref 4.1", outcome: "only an end has one; iOS does not read it")
        case .dismissalTooLate: Meaning(rule: "ref I6", outcome: "iOS removes the card four hours after its end")
        case .noDismissal: Meaning(rule: "E1", outcome: "the ended card stands for up to four hours")
        case .noInput: Meaning(rule: "ref L3", outcome: "from iOS 18 on the card gets no update token")
        case .twoInputs: Meaning(rule: "ref L2", outcome: "iOS refuses the start: two forms of push input")
        case .badInput:
            Meaning(rule: "ref 4.1", outcome: "iOS takes 1, or an existing channel; else no token or no card")
        case .inputWithoutStart: Meaning(rule: "ref 4.1", outcome: "only a start has one; iOS does not read it")
        case .badRelevance: Meaning(rule: "P7", outcome: "the card counts as one without a score")
        case .noAttributesType, .noAttributes:
            Meaning(rule: "ref L15", outcome: "APNs answers 200, iOS makes no card: no usable attributes")
        case .noAlert, .alertNotAnObject:
            Meaning(rule: "P1", outcome: "APNs answers 200, iOS makes no card: no alert configuration")
        case .blankAlert: Meaning(rule: "P1", outcome: "iOS shows a banner without words, on the Watch too")
        case .badAlertText: Meaning(rule: "ref 4.1", outcome: "iOS cannot show the text")
        case .oldLocalization:
            Meaning(rule: "ref 4.1", outcome: "iOS wants title and body to be a text or {loc-key, loc-args}")
        case .soundBesideAlert: Meaning(rule: "ref 4.1", outcome: "no sound: it belongs inside alert")
        case .badSound: Meaning(rule: "ref 4.1", outcome: "no sound: iOS takes the name of one")
        case .noContent: Meaning(rule: "ref L17", outcome: "iOS drops it: nothing to show")
        case .contentNotAnObject:
            Meaning(rule: "ref L16", outcome: "it does not decode: no card, or the card stays as it is")
        case .nullValue:
            Meaning(
                rule: "P11", outcome: "a start with it has failed: it decodes only where the app's type is optional")
        case .millisecondsInContent:
            Meaning(rule: "P11", outcome: "read as seconds, the card shows a time in a far millennium")
        case .dateString:
            Meaning(
                rule: "P11", outcome: "a Date of the app does not decode from a text: no card, or it stays as it is")
        case .spoiler: Meaning(rule: "P2", outcome: "iOS shows it, and the phone asked not to be told")
        case .badHeaders: Meaning(rule: "ref 1.2", outcome: "it is no header")
        case .repeatedHeader: Meaning(rule: "ref 1.2", outcome: "APNs answers 400 DuplicateHeaders")
        case .badPushType:
            Meaning(
                rule: "ref 1.2", outcome: "APNs answers 400 InvalidPushType, or the push is delayed or dropped",
                responsible: .operator)
        case .badTopic:
            Meaning(
                rule: "ref 1.2", outcome: "APNs answers 400 MissingTopic, BadTopic or TopicDisallowed",
                responsible: .operator)
        case .badPriority:
            Meaning(rule: "ref 1.2", outcome: "APNs answers 400 BadPriority: Live Activities take 5 or 10")
        case .priorityOfEvent: Meaning(rule: "P6", outcome: "the phone may get it late, or never")
        case .noExpiration: Meaning(rule: "P10", outcome: "APNs keeps it for up to 30 days and delivers it then")
        case .badExpiration:
            Meaning(rule: "ref 1.2", outcome: "APNs answers 400 BadExpirationDate, or keeps it for 30 days")
        case .noAttemptLater: Meaning(rule: "P10", outcome: "APNs tries once: a phone out of reach never gets it")
        case .expired: Meaning(rule: "P10", outcome: "it has expired before it is sent")
        case .noID: Meaning(rule: "P10", outcome: "APNs makes one up: the attempt cannot be told from others")
        case .badID: Meaning(rule: "ref 1.2", outcome: "APNs answers 400 BadMessageId")
        case .noCollapseID: Meaning(rule: "P10", outcome: "two starts sent at once can become two cards")
        case .badCollapseID: Meaning(rule: "ref 1.2", outcome: "APNs answers 400 BadCollapseId")
        }
    }
}
