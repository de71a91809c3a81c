import HLSKitCore

/// A stream generated on demand, for tests without media files.
///
/// It consists of playlists, and of segments whose size exactly matches their bit rate. The media is real H.264 in
/// fragmented MP4: a small grey frame 25 times a second, padded to the bit rate. It can be demuxed and decoded. There
/// is no audio. ``SimulatedTransport`` serves it. Use ``response(to:)`` if your own closure changes only some
/// responses.
public struct SyntheticStream: Sendable, Hashable {
    /// Bits per second of each variant, in the order of the multivariant playlist.
    ///
    /// The default is 0.4, 1, 2.5 and 5 Mbit/s.
    public var bitRates: [Int]
    /// The duration of a segment.
    ///
    /// The default is 6 s.
    public var segmentDuration: Duration
    /// The number of segments.
    ///
    /// The default is 100.
    public var segmentCount: Int
    /// The number of segments in a live playlist.
    ///
    /// The next segment appears after one segment's duration, until there are ``segmentCount``. The default, `nil`, is
    /// a stream that is complete from the start.
    public var liveWindow: Int?

    /// Creates a stream.
    ///
    /// - Precondition: There is a variant and a segment. Bit rates, durations and the window are positive.
    public init(
        bitRates: [Int] = [400_000, 1_000_000, 2_500_000, 5_000_000], segmentDuration: Duration = .seconds(6),
        segmentCount: Int = 100, liveWindow: Int? = nil
    ) {
        precondition(
            !bitRates.isEmpty && bitRates.allSatisfy { (1...1_000_000_000).contains($0) }, "bit rates in 1…10⁹")
        precondition((Duration.milliseconds(100)...Duration.seconds(60)).contains(segmentDuration), "0.1 to 60 s")
        precondition((1...1_000_000).contains(segmentCount), "from 1 to a million segments")
        precondition(liveWindow.map { $0 > 0 } ?? true, "a window holds a segment")
        self.bitRates = bitRates
        self.segmentDuration = segmentDuration
        self.segmentCount = segmentCount
        self.liveWindow = liveWindow
    }

    /// The URL of the multivariant playlist.
    public var urlString: String { Self.base + "index.m3u8" }

    private static let base = "https://synthetic.invalid/"

    /// Returns the response to a request, or 404 for a resource outside the stream.
    public func response(to request: SimulatedRequest) -> SimulatedResponse {
        guard request.urlString.hasPrefix(Self.base) else { return .notFound }
        let path = request.urlString.dropFirst(Self.base.count).split(separator: "/", omittingEmptySubsequences: false)
        switch path.count {
        case 1 where path[0] == "index.m3u8": return .playlist(multivariantPlaylist)
        case 1 where path[0] == "init.mp4":
            return SimulatedResponse(contentType: "video/mp4", body: SyntheticMedia.initializationSection)
        case 2:
            guard let variant = Int(path[0]), bitRates.indices.contains(variant) else { return .notFound }
            if path[1] == "index.m3u8" { return .playlist(mediaPlaylist(at: request.time)) }
            guard path[1].hasSuffix(".m4s"), let index = Int(path[1].dropLast(4)), index >= 0,
                index < publishedCount(at: request.time)
            else { return .notFound }
            return SimulatedResponse(contentType: "video/mp4", body: segment(index, bitsPerSecond: bitRates[variant]))
        default: return .notFound
        }
    }

    private func segment(_ index: Int, bitsPerSecond: Int) -> [UInt8] {
        let byteCount = Int((segmentDuration * bitsPerSecond / 8) / .seconds(1))
        return SyntheticMedia.segment(index, duration: segmentDuration, byteCount: byteCount)
    }

    // MARK: Playlists

    private var multivariantPlaylist: String {
        "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-INDEPENDENT-SEGMENTS\n"
            + bitRates.enumerated().map { index, bitRate in
                "#EXT-X-STREAM-INF:BANDWIDTH=\(bitRate),AVERAGE-BANDWIDTH=\(bitRate),"
                    + "CODECS=\"\(SyntheticMedia.codec)\",RESOLUTION=\(SyntheticMedia.resolution)\n\(index)/index.m3u8\n"
            }.joined()
    }

    private func publishedCount(at time: Duration) -> Int {
        guard let liveWindow else { return segmentCount }
        return min(segmentCount, liveWindow + Int(time / segmentDuration))
    }

    private func mediaPlaylist(at time: Duration) -> String {
        let end = publishedCount(at: time)
        let start = liveWindow.map { max(0, end - $0) } ?? 0
        let seconds = Self.decimal(segmentDuration)
        var text =
            "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:\(Int((segmentDuration / .seconds(1)).rounded(.up)))\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(start)\n#EXT-X-MAP:URI=\"../init.mp4\"\n"
        if liveWindow == nil { text += "#EXT-X-PLAYLIST-TYPE:VOD\n" }
        for index in start..<end { text += "#EXTINF:\(seconds),\n\(index).m4s\n" }
        if end == segmentCount { text += "#EXT-X-ENDLIST\n" }
        return text
    }

    /// Formats seconds with three decimals for `EXTINF`.
    private static func decimal(_ duration: Duration) -> String {
        let thousandths = Int((duration / .milliseconds(1)).rounded())
        return "\(thousandths / 1000).\((thousandths % 1000).digits(3))"
    }
}
