/// One answer as a client reads it, and how to cut a stream of bytes into answers.
struct ReadAnswer: Hashable {
    var status: Int
    var headers: [String]
    var body: [UInt8]

    func header(_ name: String) -> String? {
        headers.first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            .map { String($0.dropFirst(name.count + 1)).trimmingSpaces() }
    }

    /// - Parameter heads: which answers are to HEAD, counted from 0, interim ones included.
    /// - Returns: the whole answers, and how many bytes they took.
    static func all(in bytes: [UInt8], heads: Set<Int> = []) -> (answers: [ReadAnswer], length: Int) {
        var answers: [ReadAnswer] = []
        var place = 0
        while let (answer, end) = one(in: bytes, from: place, isHEAD: heads.contains(answers.count)) {
            answers.append(answer)
            place = end
        }
        return (answers, place)
    }

    private static func one(in bytes: [UInt8], from start: Int, isHEAD: Bool) -> (ReadAnswer, Int)? {
        guard let headEnd = find([13, 10, 13, 10], in: bytes, from: start) else { return nil }
        let lines = String(decoding: bytes[start..<headEnd], as: UTF8.self).split(separator: "\r\n").map(String.init)
        guard let first = lines.first, first.hasPrefix("HTTP/1.1 "),
            let status = Int(first.dropFirst(9).prefix(3))
        else { return nil }
        var answer = ReadAnswer(status: status, headers: Array(lines.dropFirst()), body: [])
        var place = headEnd + 4
        if isHEAD || status == 204 || status == 304 || status < 200 { return (answer, place) }
        if let text = answer.header("Content-Length") {
            guard let length = Int(text), bytes.count - place >= length else { return nil }
            answer.body = Array(bytes[place..<place + length])
            return (answer, place + length)
        }
        guard answer.header("Transfer-Encoding") == "chunked" else {
            answer.body = Array(bytes[place...])
            return (answer, bytes.count)
        }
        while true {
            guard let end = find([13, 10], in: bytes, from: place),
                let size = Int(String(decoding: bytes[place..<end], as: UTF8.self), radix: 16),
                bytes.count >= end + 4 + size
            else { return nil }
            answer.body += bytes[end + 2..<end + 2 + size]
            place = end + 4 + size
            if size == 0 { return (answer, place) }
        }
    }

    static func find(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        var place = start
        while place + pattern.count <= bytes.count {
            if bytes[place] == pattern[0], bytes[place..<place + pattern.count].elementsEqual(pattern) { return place }
            place += 1
        }
        return nil
    }
}

extension String {
    fileprivate func trimmingSpaces() -> String {
        var text = self[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
