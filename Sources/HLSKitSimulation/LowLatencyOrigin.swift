import HLSKitCore
package import HLSKitPlaylist

/// A low-latency live stream, generated on demand (rfc8216bis, appendix B).
///
/// The stream has playlists with partial segments, blocking reloads, delta updates, preload hints and rendition
/// reports. This is a value type: the available parts depend only on the time, so a blocking reload is a response with
/// a delay. The media is the same as in ``SyntheticStream``. Each part can be decoded separately, regardless of its
/// playlist.
///
/// ```swift
/// let origin = LowLatencyOrigin()
/// let transport = SimulatedTransport(over: trace, clock: clock) { origin.response(to: $0) }
/// ```
package struct LowLatencyOrigin: Sendable {
    package enum Addressing: Sendable, Hashable {
        /// Each part is a separate file.
        case files
        /// Each part is a range of its segment's growing file.
        case ranges
    }

    /// Bits per second of each variant, in the order of the multivariant playlist. The default is 0.4 and 1 Mbit/s.
    package var bitRates = [400_000, 1_000_000]
    /// The part duration, which is 0.5 s by default. ``partsPerSegment`` parts must last a whole number of seconds.
    package var partDuration = Duration.milliseconds(500)
    package var partsPerSegment = 4
    /// The interval of independent parts, from the first of the stream on. The default is 2.
    package var independentInterval = 2
    /// The minimum number of segments in a playlist, which also exist at the start. The default is 8.
    package var windowSegmentCount = 8
    /// The total number of segments, or nil (the default) for an endless stream.
    package var segmentCount: Int?
    package var firstMediaSequence = 0
    package var addressing = Addressing.files
    /// `PART-HOLD-BACK`. The default, nil, is three part targets.
    package var partHoldBack: Duration?
    /// `CAN-BLOCK-RELOAD`. The default is true.
    package var holdsRequests = true
    /// `CAN-SKIP-UNTIL`, which is six target durations. The default is true.
    package var offersDeltaUpdates = true
    /// `EXT-X-PRELOAD-HINT`. The default is true.
    package var givesHints = true
    package var listsParts = true
    package var protocolName = "h2"
    /// Whether HTTP/1.1 connections are reusable. The default is true.
    package var keepsConnections = true
    /// The date of time zero at the origin, whose clock may be wrong. The default is 2023-11-14T22:13:20Z.
    package var epoch = PlaylistDate(seconds: 1_700_000_000)
    /// The drift of the encoder's clock, in parts per million. Positive values are faster. The default is 0.
    package var clockDrift = 0.0
    /// Whether there is a separate silent audio rendition. Its index follows the last variant. The default is false.
    package var hasSeparateAudio = false
    /// The delay with which parts are listed, by the index of the variant. By default, there is no delay.
    package var lags: [Duration] = []
    package var faults: [Fault] = []

    package init() {}

    package var url: String { Self.base + "index.m3u8" }
    package func url(ofVariant variant: Int) -> String { Self.base + "\(variant)/live.m3u8" }

    static let base = "https://low-latency.invalid/"
    /// The prefix of the names of withdrawn parts.
    static let plan = "planned-"

    // MARK: Answers

    /// The response to a request, or 404 for a resource outside the stream.
    package func response(to request: SimulatedRequest) -> SimulatedResponse {
        var response = answer(to: request)
        response.protocolName = protocolName
        response.keepsConnection = keepsConnections
        return response
    }

    private func answer(to request: SimulatedRequest) -> SimulatedResponse {
        guard request.urlString.hasPrefix(Self.base) else { return .notFound }
        let relative = request.urlString.dropFirst(Self.base.count)
        let path = relative.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        let query = relative.drop { $0 != "?" }.dropFirst()
        switch path.count {
        case 1 where path[0] == "index.m3u8": return .playlist(multivariantPlaylist)
        case 1 where path[0] == "init.mp4":
            return SimulatedResponse(contentType: "video/mp4", body: SyntheticMedia.initializationSection)
        case 1 where path[0] == "audio.mp4":
            return SimulatedResponse(contentType: "audio/mp4", body: SyntheticMedia.audioInitializationSection)
        case 2:
            guard let variant = Int(path[0]), renditions.contains(variant) else { return .notFound }
            if path[1] == "live.m3u8" { return playlist(of: variant, query: String(query), at: request.time) }
            guard path[1].hasSuffix(".m4s") else { return .notFound }
            let isPlanned = path[1].hasPrefix(Self.plan)
            let name = path[1].dropFirst(isPlanned ? Self.plan.count : 0).dropLast(4)
            let numbers = name.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
            if isPlanned { return withdrawnPart(numbers, of: variant, at: request.time) }
            switch numbers.count {
            case 1: return segment(numbers[0], of: variant, request)
            case 2: return part(numbers[1], ofSegment: numbers[0], of: variant, request)
            default: return .notFound
            }
        default: return .notFound
        }
    }

    private var multivariantPlaylist: String {
        let codecs = SyntheticMedia.codec + (hasSeparateAudio ? "," + SyntheticMedia.audioCodec : "")
        let audio =
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\",NAME=\"Audio\",DEFAULT=YES,AUTOSELECT=YES,"
            + "URI=\"\(bitRates.count)/live.m3u8\"\n"
        return "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-INDEPENDENT-SEGMENTS\n" + (hasSeparateAudio ? audio : "")
            + bitRates.enumerated().map { index, bitRate in
                "#EXT-X-STREAM-INF:BANDWIDTH=\(bitRate),AVERAGE-BANDWIDTH=\(bitRate),"
                    + "CODECS=\"\(codecs)\",RESOLUTION=\(SyntheticMedia.resolution)"
                    + "\(hasSeparateAudio ? ",AUDIO=\"audio\"" : "")\n\(index)/live.m3u8\n"
            }.joined()
    }

    var renditions: Range<Int> { 0..<bitRates.count + (hasSeparateAudio ? 1 : 0) }
    func isAudio(_ variant: Int) -> Bool { variant == bitRates.count }

    // MARK: Media

    private func segment(_ number: Int, of variant: Int, _ request: SimulatedRequest) -> SimulatedResponse {
        guard let index = index(ofSegment: number, at: request.time), isAvailable(index, of: variant, request.time)
        else { return .notFound }
        let parts = partRange(ofSegment: index)
        var response = SimulatedResponse(contentType: "video/mp4")
        for part in parts {
            response.body += media(ofPart: part, of: variant)
            let wait = max(.zero, timeline.completion(ofPart: part) + lag(of: variant) - request.time)
            response.growth.append(SimulatedResponse.Growth(time: wait, byteCount: response.body.count))
        }
        if response.growth.last?.time == .zero { response.growth = [] }
        // Only requests for a hinted file block.
        if !response.growth.isEmpty, addressing == .files { return .notFound }
        if let count = fault(at: request.time, of: variant, \.resetAfter) { response.ending = .cut(after: count) }
        return response
    }

    private func part(
        _ number: Int, ofSegment segment: Int, of variant: Int, _ request: SimulatedRequest
    ) -> SimulatedResponse {
        guard addressing == .files, (0..<partsPerSegment).contains(number),
            let index = index(ofSegment: segment, at: request.time), isAvailable(index, of: variant, request.time)
        else { return .notFound }
        let part = partRange(ofSegment: index).lowerBound + number
        let isDropped = !listedParts(ofSegment: index, of: variant).contains(part)
        var response = SimulatedResponse(contentType: "video/mp4", body: media(ofPart: part, of: variant))
        response.delay = max(.zero, timeline.completion(ofPart: part) + lag(of: variant) - request.time)
        if response.delay > .zero {
            // Only a hinted part may block.
            guard part == listing(of: variant, at: request.time).partEnd, !isDropped else { return .notFound }
            switch fault(at: request.time, of: variant, \.hint) {
            case .neverAppears: return .silence
            case .notFoundUntilPublished: return .notFound
            case .otherBytes: response.body = media(ofPart: part + 1, of: variant)
            case .withdrawn, nil: break
            }
        }
        return isDropped ? .notFound : response
    }

    /// The response for a hinted part that is never published. It is sent when the replacing part appears.
    private func withdrawnPart(_ numbers: [Int], of variant: Int, at time: Duration) -> SimulatedResponse {
        var response = SimulatedResponse.notFound
        guard numbers.count == 2, let segment = index(ofSegment: numbers[0], at: time) else { return response }
        let part = partRange(ofSegment: segment).lowerBound + numbers[1]
        response.delay = max(.zero, timeline.completion(ofPart: part) + lag(of: variant) - time)
        return response
    }

    /// Whether a segment is available: for three target durations after it has left the playlist, and while it is in
    /// progress.
    private func isAvailable(_ segment: Int, of variant: Int, _ time: Duration) -> Bool {
        let listing = listing(of: variant, at: time)
        let grace = 3 + max(windowSegmentCount, 1)
        return segment >= listing.segments.lowerBound - grace && segment <= listing.partEnd / partsPerSegment
            && segment < segmentCount ?? .max
    }

    private func media(ofPart part: Int, of variant: Int) -> [UInt8] {
        if isAudio(variant) { return SyntheticMedia.audioSegment(part, duration: partDuration) }
        let byteCount = Int((partDuration * bitRates[variant] / 8) / .seconds(1))
        return SyntheticMedia.segment(part, duration: partDuration, byteCount: byteCount)
    }

    /// The bytes of one part. All parts have the same size.
    func byteCount(ofPartOf variant: Int) -> Int { media(ofPart: 0, of: variant).count }

    // MARK: What is there

    var timeline: LowLatencyTimeline { LowLatencyTimeline(self) }
    var segmentDuration: Duration { partDuration * partsPerSegment }
    var targetDuration: Int { max(1, Int((segmentDuration / .seconds(1)).rounded(.up))) }
    var partTarget: Duration { partDuration }

    func partRange(ofSegment index: Int) -> Range<Int> { index * partsPerSegment..<(index + 1) * partsPerSegment }

    func listedParts(ofSegment index: Int, of variant: Int) -> Range<Int> {
        let range = partRange(ofSegment: index)
        let completion = timeline.completion(ofPart: range.upperBound - 1)
        let dropped = fault(at: completion, of: variant, \.droppedPartCount) ?? 0
        return range.lowerBound..<range.upperBound - min(max(0, dropped), partsPerSegment - 1)
    }

    func lag(of variant: Int) -> Duration { lags.indices.contains(variant) ? max(.zero, lags[variant]) : .zero }

    func listing(of variant: Int, at time: Duration) -> Listing {
        var time = time - lag(of: variant)
        if let stop = stop(of: variant), time > stop { time = stop }
        var count = timeline.partCount(at: time)
        if let segmentCount { count = min(count, segmentCount * partsPerSegment) }
        let whole = count / partsPerSegment
        var partEnd = count
        if count % partsPerSegment > 0 { partEnd = min(count, listedParts(ofSegment: whole, of: variant).upperBound) }
        return Listing(
            segments: max(0, whole - windowSegmentCount)..<whole, partEnd: partEnd,
            hasEnded: segmentCount.map { whole >= $0 } ?? false)
    }

    /// Segments and parts are numbered from the start of the stream.
    struct Listing: Sendable, Hashable {
        var segments: Range<Int>
        /// The index after the last available part. Parts after the last segment belong to the segment in progress.
        var partEnd: Int
        var hasEnded: Bool
    }
}
