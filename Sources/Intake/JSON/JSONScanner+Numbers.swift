import CardRules

extension JSONScanner {
    /// A number as JSON writes it: no leading zero, no `+`, no bare point, unless lenient. Whole numbers must fit 64 bits,
    /// others `Double`.
    mutating func number(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONValue {
        let start = position
        var isWhole = true
        var isNegative = false
        if isAt(UInt8(ascii: "-"), bytes) {
            isNegative = true
            advance()
        } else if isLenient, isAt(UInt8(ascii: "+"), bytes) {
            advance()
        }
        if isLenient, let value = try lenientNumber(bytes, from: start, isNegative: isNegative) { return value }
        let firstDigit = position
        var value: Int64 = 0
        var overflows = false
        while let digit = digit(bytes) {
            let (product, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) =
                isNegative
                ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            overflows = overflows || first || second
            value = sum
            advance()
        }
        let hasBarePoint = isLenient && position == firstDigit && isAt(UInt8(ascii: "."), bytes)
        guard position > firstDigit || hasBarePoint else { throw endOrBadNumber(bytes) }
        if bytes[firstDigit] == UInt8(ascii: "0"), position > firstDigit + 1 {
            throw JSONFault(.badNumber, at: firstDigit)
        }
        if isAt(UInt8(ascii: "."), bytes) {
            isWhole = false
            advance()
            // Leniently no digit need stand on one of its sides.
            if !isLenient || hasBarePoint || digit(bytes) != nil { try digits(bytes) }
        }
        if isAt(UInt8(ascii: "e"), bytes) || isAt(UInt8(ascii: "E"), bytes) {
            isWhole = false
            advance()
            if isAt(UInt8(ascii: "+"), bytes) || isAt(UInt8(ascii: "-"), bytes) { advance() }
            try digits(bytes)
        }
        if isWhole {
            guard !overflows else { throw JSONFault(.numberOutOfRange, at: start) }
            return .integer(value)
        }
        var text = isNegative ? "-0" : "0"
        for index in firstDigit..<position {
            text.unicodeScalars.append(Unicode.Scalar(bytes[index]))
            // `5.` and `5.e1` are lenient, and not for `Double`.
            if bytes[index] == UInt8(ascii: "."), index + 1 == position || digit(bytes, at: index + 1) == nil {
                text += "0"
            }
        }
        guard let number = Double(text), number.isFinite else { throw JSONFault(.numberOutOfRange, at: start) }
        return .number(number)
    }

    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONFault) {
        guard digit(bytes) != nil else { throw endOrBadNumber(bytes) }
        while digit(bytes) != nil { advance() }
    }

    private func digit(_ bytes: Span<UInt8>) -> Int64? { digit(bytes, at: position) }

    private func digit(_ bytes: Span<UInt8>, at index: Int) -> Int64? {
        guard index < bytes.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = bytes[index] else { return nil }
        return Int64(bytes[index] - UInt8(ascii: "0"))
    }

    private func isAt(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        position < bytes.count && bytes[position] == byte
    }

    private func endOrBadNumber(_ bytes: Span<UInt8>) -> JSONFault {
        JSONFault(position < bytes.count ? .badNumber : .unexpectedEnd, at: position)
    }
}
