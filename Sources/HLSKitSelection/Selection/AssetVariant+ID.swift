import HLSKitPlaylist

extension AssetVariant {
    /// A stable identifier of a variant, which survives reloads of its playlist.
    ///
    /// It remains valid if the playlist is loaded from a fresh URL, or lists variants in another order, more or fewer
    /// of them. It is the `STABLE-VARIANT-ID` if the playlist has one. Otherwise it consists of attributes that
    /// distinguish the variant, without its URI and index: bit rates, size, frame rate, range, codecs, groups, name and
    /// pathway. If variants agree in all of these, the second one ends with `#2`, and so on. You can store the text for
    /// later sessions.
    public struct ID: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public var description: String { rawValue }
    }

    struct Names {
        private var counts: [String: Int] = [:]
        private var given: Set<String> = []

        mutating func name(of variant: VariantStream) -> ID {
            let text = variant.stableVariantID ?? variant.distinction
            var count = counts[text] ?? 0
            var name: String
            repeat {
                count += 1
                name = count == 1 ? text : "\(text)#\(count)"
            } while !given.insert(name).inserted
            counts[text] = count
            return ID(rawValue: name)
        }
    }
}

extension [AssetVariant] {
    package func playlistIndex(of id: AssetVariant.ID?) -> Int? { first { $0.id == id }?.index }
}

extension VariantStream {
    /// The attributes that distinguish a variant even if the playlist's URIs and order change.
    fileprivate var distinction: String {
        var words = ["\(bandwidth)"]
        if let averageBandwidth { words.append("~\(averageBandwidth)") }
        if let resolution { words.append("\(resolution.width)x\(resolution.height)") }
        if let frameRate { words.append("@\(frameRate)") }
        if let videoRange { words.append(videoRange.rawValue) }
        if let hdcpLevel { words.append(hdcpLevel.rawValue) }
        if let codecsText { words.append(codecsText) }
        let groups = [("audio", audio), ("video", video), ("name", name), ("pathway", pathwayID)]
        words += groups.compactMap { kind, value in value.map { "\(kind)=\($0)" } }
        return words.joined(separator: " ")
    }
}
