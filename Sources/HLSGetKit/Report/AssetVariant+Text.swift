package import HLSKitCore

extension AssetVariant {
    /// A name such as `720p 3M`, or empty if the playlist declares nothing.
    package func name(withBitRate: Bool = true) -> String {
        var words: [String] = []
        if let rows { words.append("\(rows)p") }
        if let peakBitRate, withBitRate || words.isEmpty { words.append(Decimals.bitRate(peakBitRate)) }
        return words.joined(separator: " ")
    }

    /// The height in pixels, or `nil` if undeclared.
    var rows: Int? { videoAttributes?.presentationSize?.height }

    /// The object for reports; undeclared sizes and bit rates are 0.
    package var json: JSONValue {
        let size = videoAttributes?.presentationSize
        return [
            "index": .integer(index), "bandwidth": .integer(Self.integer(peakBitRate ?? 0)),
            "average_bandwidth": JSONValue(averageBitRate.map(Self.integer)), "width": .integer(size?.width ?? 0),
            "height": .integer(size?.height ?? 0), "frame_rate": JSONValue(videoAttributes?.nominalFrameRate),
            "codecs": .string(codecs.joined(separator: ",")),
        ]
    }

    private static func integer(_ bitRate: Double) -> Int { Int(min(max(0, bitRate), 1e15)) }
}
