import HLSKitPlaylist

extension AssetVariant {
    /// Names a variant in every version of its playlist: one that was loaded again, from a fresh URL or with variants added,
    /// removed or put into another order.
    ///
    /// `STABLE-VARIANT-ID` where the playlist has it; else what tells the variant from others, without its URI and its place:
    /// bit rates, size, frame rate, range, codecs, groups, name and pathway. Of variants that are alike in all of it, the
    /// second in the playlist ends with `#2`, and so on. The text may be kept for later sessions.
    public struct ID: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public var description: String { rawValue }
    }

    /// Gives out names, each once, in the order of a playlist.
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
    /// The position in the multivariant playlist of the variant of this name; nil where there is none.
    package func playlistIndex(of id: AssetVariant.ID?) -> Int? { first { $0.id == id }?.index }
}

extension VariantStream {
    /// What tells a variant from others in a playlist whose URIs and order may change.
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
