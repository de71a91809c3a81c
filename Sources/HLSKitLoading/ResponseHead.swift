/// The header of a response, which is parsed line by line while it arrives (RFC 9112 §2).
package struct ResponseHead: Sendable {
    package private(set) var status = 0
    private(set) var version = (1, 1)
    package private(set) var fields: [TransportField] = []
    package private(set) var byteCount = 0
    /// Whether the empty line of a final response has arrived.
    package private(set) var isComplete = false

    package init() {}

    /// The largest accepted size of all header fields in bytes, including informational responses (R28).
    package static let maximumByteCount = 256 << 10

    /// Parses one line, with or without its line break.
    ///
    /// - Returns: False if the header is larger than ``maximumByteCount``.
    package mutating func read(_ line: UnsafeRawBufferPointer) -> Bool {
        byteCount += line.count
        guard byteCount <= Self.maximumByteCount else { return false }
        // Trailer fields after a chunked body are ignored.
        guard !isComplete else { return true }
        var text = line[...]
        while let last = text.last, last == 0x0A || last == 0x0D { text.removeLast() }
        if text.starts(with: "HTTP/".utf8) {
            readStatusLine(String(decoding: text, as: UTF8.self))
        } else if text.isEmpty {
            // 1xx statuses announce the final response (RFC 9110 §15.2).
            isComplete = status >= 200
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            fields.append(
                TransportField(
                    name: String(decoding: text[..<colon], as: UTF8.self),
                    value: Self.trimmed(String(decoding: text[text.index(after: colon)...], as: UTF8.self))))
        }
        return true
    }

    private mutating func readStatusLine(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2)
        let numbers = words.first.map { $0.dropFirst("HTTP/".count).split(separator: ".").compactMap { Int($0) } } ?? []
        version = (numbers.first ?? 1, numbers.count > 1 ? numbers[1] : 0)
        status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        fields = []
    }

    package func value(of name: String) -> String? { fields.first { Self.isEqual($0.name, name) }?.value }

    /// Returns the comma-separated members of all fields with this name, in lower case.
    func members(of name: String) -> [String] {
        fields.filter { Self.isEqual($0.name, name) }
            .flatMap { $0.value.split(separator: ",") }
            .map { Self.trimmed(String($0)).lowercased() }
            .filter { !$0.isEmpty }
    }

    /// Whether only the end of the connection marks the end of the body (R21).
    package var isCloseDelimited: Bool {
        version.0 < 2 && value(of: "Content-Length") == nil && !members(of: "Transfer-Encoding").contains("chunked")
    }

    package var contentLength: Int? { value(of: "Content-Length").flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }

    package static func isEqual(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && one.lowercased() == other.lowercased()
    }

    static func trimmed(_ text: String) -> String {
        var rest = Substring(text)
        while let first = rest.utf8.first, first == 0x20 || first == 0x09 { rest = rest.dropFirst() }
        while let last = rest.utf8.last, last == 0x20 || last == 0x09 { rest = rest.dropLast() }
        return String(rest)
    }
}
