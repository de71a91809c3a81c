package import HLSKitCore
import HLSKitPlaylist

/// A channel list (IPTV): an M3U file with streams and the header fields that their servers need.
///
/// There is no specification. This type accepts the syntax that players accept:
/// `#EXTINF:-1 tvg-id="…" group-title="…",Name`, `#EXTGRP:`, `#EXTVLCOPT:http-user-agent=` and `http-referrer=`,
/// `#KODIPROP:inputstream.adaptive.stream_headers=`, `#EXTHTTP:{"Name":"value"}`, and `URL|User-Agent=…&Referer=…`.
package struct ChannelList: Sendable, Hashable {
    package struct Channel: Sendable, Hashable {
        package var name: String
        /// The unparsed URL; see ``FieldsInURL``.
        package var url: String
        package var group: String?
    }

    package struct NoChoice: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    package static let maximumByteCount = 64 << 20

    package private(set) var channels: [Channel] = []

    package static func begins(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes.prefix(10))
        return (bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]).starts(with: "#EXTM3U".utf8)
    }

    /// Decodes UTF-8, or Latin-1 as in older lists. Returns `nil` for bytes that are not text.
    package static func text(of bytes: [UInt8]) -> String? {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        guard !bytes.contains(0) else { return nil }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// - Returns: `nil` for anything else, such as an HLS playlist, which has different tags, or a list of files.
    package init?(parsing text: String) {
        var name: String?
        var group: String?
        var fields: [String] = []
        var isOfChannels = false
        let text = text.unicodeScalars.first == "\u{FEFF}" ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
        for line in Substring(text).split(whereSeparator: \.isNewline).lazy.map({ $0.trimmed() }) where !line.isEmpty {
            if line.hasPrefix("#EXT-X-") { return nil }
            if let rest = line.value(after: "#EXTINF:") {
                let entry = Self.entry(rest)
                name = entry.name
                group = entry.group ?? group
                isOfChannels = isOfChannels || entry.isOfChannel
            } else if let rest = line.value(after: "#EXTGRP:") {
                group = rest
            } else if let rest = line.value(after: "#EXTVLCOPT:http-user-agent=") {
                fields.append(Self.field("User-Agent", rest))
            } else if let rest = line.value(after: "#EXTVLCOPT:http-referrer=") {
                fields.append(Self.field("Referer", rest))
            } else if let rest = line.value(after: "#KODIPROP:inputstream.adaptive.stream_headers=") {
                fields.append(rest)
            } else if let rest = line.value(after: "#EXTHTTP:") {
                guard case .object(let members)? = JSONDocument(parsing: rest.utf8) else { continue }
                for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                    if case .string(let text) = value { fields.append(Self.field(name, text)) }
                }
            } else if line.first != "#" {
                let separator = line.contains("|") ? "&" : "|"
                let url = fields.isEmpty ? line : line + separator + fields.joined(separator: "&")
                channels.append(Channel(name: name ?? line, url: url, group: group))
                (name, group, fields) = (nil, nil, [])
            }
        }
        guard isOfChannels, !channels.isEmpty else { return nil }
    }

    /// A header field as ``FieldsInURL`` reads it.
    private static func field(_ name: String, _ value: String) -> String {
        let value = PercentCoding.encoded(value) { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "%") }
        return "\(name)=\(value)"
    }

    /// Selects a channel by its number in the list (`3`, `#3`), its name, or a unique part of it.
    package func channel(_ preference: String) throws(NoChoice) -> Channel {
        let digits = preference.first == "#" ? preference.dropFirst() : preference[...]
        let wanted = preference.lowercased()
        if let exact = channels.first(where: { $0.name.lowercased() == wanted }) { return exact }
        if let number = Int(digits) {
            guard channels.indices.contains(number - 1) else {
                throw NoChoice(description: "there is no channel \(number); there are \(channels.count)")
            }
            return channels[number - 1]
        }
        let found = channels.filter { $0.name.lowercased().contains(wanted) }
        if found.count == 1 { return found[0] }
        let shown = TerminalText.escaped(preference)
        guard !found.isEmpty else { throw NoChoice(description: "no channel is called \"\(shown)\"") }
        let names = found.prefix(4).map { "\"\(TerminalText.escaped($0.name))\"" }.joined(separator: ", ")
        throw NoChoice(
            description: "\(found.count) channels are called \"\(shown)\": \(names)\(found.count > 4 ? ", …" : "")")
    }

    package var text: String {
        let width = String(channels.count).count
        return channels.enumerated().map { index, channel in
            let group = channel.group.map { "  (\(TerminalText.escaped($0)))" } ?? ""
            return "\(String(index + 1).leftPadded(to: width))  \(TerminalText.escaped(channel.name))\(group)\n"
        }.joined()
    }

    package var document: JSONValue {
        [
            "channels": .array(
                channels.map { channel in
                    ["name": .string(channel.name), "group": JSONValue(channel.group), "url": .string(channel.url)]
                })
        ]
    }

    /// Parses the value of `#EXTINF:`. The name begins after the first comma outside quotation marks.
    private static func entry(_ text: String) -> (name: String?, group: String?, isOfChannel: Bool) {
        var isQuoted = false
        let comma = text.firstIndex { character in
            if character == "\"" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
        let head = text[..<(comma ?? text.endIndex)]
        let name = comma.map { text[text.index(after: $0)...].trimmed() } ?? ""
        let duration = head.prefix { !$0.isWhitespace }
        func attribute(_ key: String) -> String? {
            guard let start = head.firstRange(of: "\(key)=\"")?.upperBound else { return nil }
            let value = head[start...].prefix { $0 != "\"" }
            return value.isEmpty ? nil : String(value)
        }
        let isOfChannel = (Double(duration) ?? 0) <= 0 || head.contains("=\"")
        return (name.isEmpty ? attribute("tvg-name") : name, attribute("group-title"), isOfChannel)
    }
}

extension ChannelList {
    /// Loads the URL with the options of the command. Returns `nil` if it is not a channel list.
    package static func load(_ options: PlayOptions) async throws -> ChannelList? {
        var request = TransportRequest(
            urlString: options.url, resourceClass: .multivariantPlaylist, maximumByteCount: maximumByteCount)
        request.fields = options.fields
        if let timeout = options.timeout { request.timeouts.firstByte = timeout }
        var bytes: [UInt8] = []
        for await event in try options.makeTransport().events(for: request) {
            switch event {
            case .response: break
            case .data(let more): bytes += more
            case .finished: return text(of: bytes).flatMap(ChannelList.init(parsing:))
            case .failed(let error, _): throw LoadingError(error)
            }
        }
        throw CancellationError()
    }
}

extension String {
    fileprivate func value(after prefix: String) -> String? {
        hasPrefix(prefix) ? dropFirst(prefix.count).trimmed() : nil
    }
}

/// Header fields after a URL, as in Kodi's lists: `URL|User-Agent=X&Referer=Y`, each value percent-encoded. The first
/// field of a name counts.
package struct FieldsInURL: Sendable, Equatable {
    package var url: String
    package var fields: [TransportField] = []

    package init(_ text: String) {
        url = text
        guard text.lowercased().hasPrefix("http"), let bar = text.firstIndex(of: "|") else { return }
        url = String(text[..<bar])
        for part in text[text.index(after: bar)...].split(separator: "&") {
            guard let equals = part.firstIndex(of: "="), equals != part.startIndex else { continue }
            let value = PercentCoding.decodedText(part[part.index(after: equals)...])
            guard let field = try? TransportField(argument: "\(part[..<equals]): \(value)") else { continue }
            fields = fields.filled(from: [field])
        }
    }
}

extension [TransportField] {
    /// These fields, and those fields of `others` with other names.
    package func filled(from others: [TransportField]) -> [TransportField] {
        let names = Set(map { $0.name.lowercased() })
        return self + others.filter { !names.contains($0.name.lowercased()) }
    }
}
