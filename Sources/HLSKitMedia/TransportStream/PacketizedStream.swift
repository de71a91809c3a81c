/// One elementary stream of a program. It assembles PES packets from transport packets.
struct PacketizedStream: Sendable {
    let pid: Int
    private let content: ProgramMapTable.Stream.Content
    private let language: String?
    private var continuityCounter: UInt8?
    private var state = State.waiting
    private var header: [UInt8] = []
    private var isRandomAccess = false
    /// Whether the last transport packet was completely filled, so that its unit may continue in another one.
    private var isFilled = false
    // Exactly one of them is set. It is not an enum because an enum's payload cannot be changed in place.
    private var video: VideoAssembler?
    private var frames: FrameAssembler?
    private var olderVideo: OlderVideoAssembler?
    private var opus: OpusAssembler?
    private var hasNotedLength = false
    /// Whether packets have declared lengths that were too small, so that each packet ends at the next one.
    private var distrustsLength = false
    /// Whether no packet has arrived since the previous segment ended.
    private(set) var isResumed = false

    private enum State {
        case waiting
        case header
        /// The packet has a payload of `total` bytes, of which `left` are missing.
        case bounded(total: Int, left: Int)
        /// The packet ends where the next one begins.
        case unbounded
    }

    init?(_ stream: ProgramMapTable.Stream) {
        pid = stream.pid
        content = stream.content
        language = stream.language
        let encryption: TrackEncryption? = stream.isSampleEncrypted ? .elementaryStream : nil
        switch content {
        case .video(let codec):
            video = VideoAssembler(
                track: MediaTrack(
                    id: pid, mediaType: .video, codec: codec, timescale: 90_000, language: language,
                    wrapsAt33Bits: true, encryption: encryption))
        case .frames(let framing):
            frames = FrameAssembler(
                framing: framing,
                track: MediaTrack(
                    id: pid, mediaType: framing == .id3 ? .metadata : .audio,
                    codec: [0x84, 0x87, 0xc2].contains(stream.type) ? .eac3 : framing.codec, timescale: 90_000,
                    language: language, wrapsAt33Bits: true, encryption: encryption),
                options: .init(name: "PID \(pid)"))
        case .olderVideo(let codec):
            olderVideo = OlderVideoAssembler(
                track: MediaTrack(
                    id: pid, mediaType: .video, codec: codec, timescale: 90_000, language: language,
                    wrapsAt33Bits: true))
        case .opus(let channels): opus = OpusAssembler(pid: pid, channels: channels, language: language)
        case .spliceInformation, .unknown: return nil
        }
    }

    var track: MediaTrack {
        video?.track ?? frames?.track ?? olderVideo?.track ?? opus?.track
            ?? MediaTrack(id: pid, mediaType: .metadata, codec: .id3, timescale: 90_000)
    }

    func isSame(as other: PacketizedStream) -> Bool {
        pid == other.pid && content == other.content && language == other.language
            && track.encryption == other.track.encryption
    }

    mutating func process(
        _ packet: TransportPacket, _ bytes: Span<UInt8>, unwrapper: inout TimestampUnwrapper, sink: inout EventSink
    ) {
        guard let payload = packet.payload else {
            if packet.hasDiscontinuity { continuityCounter = nil }
            return
        }
        isFilled = !packet.isStuffed
        // Some encoders restart the count in each segment.
        let mayRestartCounter = isResumed && packet.startsUnit
        isResumed = false
        if let last = continuityCounter, !packet.hasDiscontinuity, !mayRestartCounter,
            packet.continuityCounter != (last + 1) & 15
        {
            // A packet may be repeated (§2.4.3.3).
            if packet.continuityCounter == last { return }
            let count = Int((packet.continuityCounter &- last &- 1) & 15)
            sink.note("PID \(pid): \(count) packets are missing")
            loseRest(sink: &sink)
        }
        continuityCounter = packet.continuityCounter
        guard !packet.isScrambled else {
            loseRest(sink: &sink)
            return
        }
        if packet.startsUnit {
            if case .bounded(_, let left) = state, left > 0 {
                noteLength("a packet is \(left) bytes shorter than declared", sink: &sink)
            }
            state = .header
            header.removeAll(keepingCapacity: true)
            isRandomAccess = packet.isRandomAccess
        }
        switch state {
        case .waiting: break
        case .header: readHeader(bytes.extracting(payload), unwrapper: &unwrapper, sink: &sink)
        case .bounded, .unbounded: take(bytes.extracting(payload), sink: &sink)
        }
    }

    mutating func finish(isTruncated: Bool, sink: inout EventSink) {
        var isDamaged = isTruncated
        if case .bounded(_, let left) = state { isDamaged = left > 0 }
        state = .waiting
        continuityCounter = nil
        video?.finish(isDamaged: isDamaged, to: &sink)
        frames?.finish(isDamaged: true, to: &sink)
        olderVideo?.finish(isDamaged: isDamaged, to: &sink)
        opus?.finish(to: &sink)
    }

    /// Ends the segment and keeps the data that the next one may continue.
    ///
    /// If a packet does not declare its length, its last transport packet shows whether it is complete. Packets are
    /// filled up to their end, so one without stuffing is hardly ever the last.
    ///
    /// - Parameter isTruncated: Whether the segment ends within a transport packet.
    /// - Returns: Whether there is data to continue.
    mutating func endSegment(isTruncated: Bool, sink: inout EventSink) -> Bool {
        let isOpen =
            switch state {
            case .waiting: false
            case .header: true
            case .bounded(_, let left): left > 0
            case .unbounded: frames != nil || isFilled || isTruncated
            }
        if let hasRest = frames?.endSegment(to: &sink) {
            isResumed = true
            return isOpen || hasRest
        }
        video?.endSegment(to: &sink)
        guard isOpen || video?.mayContinue == true || olderVideo?.mayContinue == true else {
            finish(isTruncated: false, sink: &sink)
            return false
        }
        isResumed = true
        return true
    }

    mutating func moveTimes(by distance: Int64) {
        video?.moveTimes(by: distance)
        frames?.moveTimes(by: distance)
        olderVideo?.moveTimes(by: distance)
        opus?.moveTimes(by: distance)
    }

    private mutating func noteLength(_ text: @autoclosure () -> String, sink: inout EventSink) {
        guard !hasNotedLength else { return }
        hasNotedLength = true
        sink.note("PID \(pid): \(text())")
    }

    private mutating func loseRest(sink: inout EventSink) {
        var isComplete = false
        if case .bounded(_, let left) = state { isComplete = left == 0 }
        if case .waiting = state { isComplete = true }
        state = .waiting
        video?.finish(isDamaged: !isComplete, to: &sink)
        frames?.finish(isDamaged: true, to: &sink)
        olderVideo?.finish(isDamaged: !isComplete, to: &sink)
        opus?.finish(to: &sink)
    }

    private mutating func readHeader(
        _ bytes: Span<UInt8>, unwrapper: inout TimestampUnwrapper, sink: inout EventSink
    ) {
        bytes.withUnsafeBufferPointer { header.append(contentsOf: $0) }
        switch PESHeader.parse(header[...]) {
        case .needs: return
        case .noMedia: state = .waiting
        case .malformed(let text):
            sink.note("PID \(pid): a packet is skipped: \(text)")
            state = .waiting
        case .header(let parsed) where parsed.isScrambled:
            sink.note("PID \(pid): a packet is skipped: it is scrambled")
            state = .waiting
        case .header(let parsed):
            if parsed.hasWrappedLength {
                noteLength("a packet is longer than declared", sink: &sink)
                distrustsLength = true
            }
            let length = distrustsLength ? nil : parsed.payloadByteCount
            state = length.map { .bounded(total: $0, left: $0) } ?? .unbounded
            let dts = parsed.dts.map { unwrapper.unwrap($0) }
            let pts = parsed.pts.map { unwrapper.unwrap($0) }
            video?.beginPacket(pts: pts, dts: dts, isRandomAccess: isRandomAccess)
            frames?.beginPacket(pts: pts, isRandomAccess: isRandomAccess)
            olderVideo?.beginPacket(pts: pts, dts: dts)
            opus?.beginPacket(pts: pts, to: &sink)
            var packet: [UInt8] = []
            swap(&packet, &header)
            take(packet.span.extracting(parsed.byteCount..<packet.count), sink: &sink)
            swap(&packet, &header)
        }
    }

    private mutating func take(_ bytes: Span<UInt8>, sink: inout EventSink) {
        if case .bounded(let total, let left) = state {
            if bytes.count <= left {
                state = .bounded(total: total, left: left - bytes.count)
            } else {
                noteLength("a packet is longer than the \(total) bytes declared", sink: &sink)
                distrustsLength = true
                state = .unbounded
            }
        }
        video?.append(bytes, to: &sink)
        frames?.append(bytes, to: &sink)
        olderVideo?.append(bytes, to: &sink)
        opus?.append(bytes)
        if case .bounded(let total, 0) = state {
            video?.endPacket(byteCount: total, to: &sink)
            opus?.finish(to: &sink)
        }
    }
}
