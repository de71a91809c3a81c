/// Creates samples from a stream whose frames declare their own length: all audio, and ID3.
///
/// Times are counted in audio samples from the last timestamp, so that they are exact for any number of frames.
struct FrameAssembler {
    struct Options {
        var name: String
        var metadataTrackID: Int?
        var skipsInformationFrame = false
    }

    private enum Step {
        case moved
        case needsMore
    }

    private(set) var framing: AudioFraming
    private let options: Options
    private(set) var track: MediaTrack
    private var buffer: [UInt8] = []
    private var at = 0
    private var marks = PacketMarks()
    private var consumed: Int
    /// Whether the last frame ended where the next one must begin.
    private var isLocked = false
    private var skippedByteCount = 0
    private var clock: SampleClock?
    private var hasSamples = false
    private var configuredHeader: [UInt8] = []
    /// Whether a program config element has declared the channels, so that later frames need not repeat it.
    private var hasElement = false
    private var latm: LATMConfiguration?
    private var unconfigured = UnconfiguredFrames()
    /// The progress of reading an access unit with many frames that begins at this offset. Each packet contains only a
    /// few of them.
    private var followed = (start: 0, byteCount: 0)

    init(framing: AudioFraming, track: MediaTrack, options: Options, offset: Int = 0) {
        self.framing = framing
        self.track = track
        self.options = options
        consumed = offset
    }

    /// Sets the timestamp `pts` for the first frame that begins in the following bytes.
    mutating func beginPacket(pts: Int64?, isRandomAccess: Bool = false) {
        marks.append(.init(offset: buffer.count, pts: pts, dts: nil, isRandomAccess: isRandomAccess))
    }

    mutating func append(_ bytes: Span<UInt8>, to sink: inout EventSink) {
        bytes.withUnsafeBufferPointer { buffer.append(contentsOf: $0) }
        process(isEnd: false, to: &sink)
    }

    var endOffset: Int { consumed + buffer.count }

    /// Emits the remaining frames because the stream ends or has a gap.
    ///
    /// - Returns: The number of bytes of an incomplete frame.
    @discardableResult
    mutating func finish(isDamaged: Bool, to sink: inout EventSink) -> Int {
        process(isEnd: true, to: &sink)
        noteSkipped(to: &sink)
        let left = buffer.count - at
        if left > 0, isDamaged, let header = framing.header(at: at, in: buffer) {
            emit(at..<buffer.count, header: header, isDamaged: true, to: &sink)
        }
        dropUnconfigured(to: &sink)
        consumed += buffer.count
        buffer.removeAll(keepingCapacity: true)
        at = 0
        marks.removeAll()
        isLocked = false
        // The amount of lost time is unknown until the next timestamp.
        if isDamaged { clock = nil }
        return left
    }

    /// Emits all complete frames. The rest may continue in the next segment.
    ///
    /// - Returns: Whether the next segment needs any state of this one.
    @discardableResult
    mutating func endSegment(to sink: inout EventSink) -> Bool {
        process(isEnd: true, to: &sink)
        noteSkipped(to: &sink)
        dropUnconfigured(to: &sink)
        return at < buffer.count || latm != nil || hasElement
    }

    mutating func moveTimes(by distance: Int64) {
        marks.moveTimes(by: distance)
        clock?.move(by: distance)
    }

    private mutating func process(isEnd: Bool, to sink: inout EventSink) {
        while at < buffer.count, case .moved = step(isEnd: isEnd, to: &sink) {}
        consumed += at
        buffer.removeFirst(at)
        marks.removeBytes(at)
        at = 0
    }

    private mutating func step(isEnd: Bool, to sink: inout EventSink) -> Step {
        if options.metadataTrackID != nil, let step = stepOverTag(isEnd: isEnd, to: &sink) { return step }
        guard let header = framing.header(at: at, in: buffer) else {
            if !hasSamples, isTrusted(at), let step = reconsider(isEnd: isEnd, to: &sink) { return step }
            if buffer.count - at < framing.headerByteCount && (!isEnd || isLocked) { return .needsMore }
            skip(1)
            return .moved
        }
        guard header.byteCount <= TransportStreamDemuxer.maxAccessUnitByteCount else {
            skip(1)
            return .moved
        }
        var end = at + max(header.byteCount, followed.start == consumed + at ? followed.byteCount : 0)
        // A tag with a wrong length must not consume the tags of later packets.
        if framing == .id3, let next = cutStart(before: min(end, buffer.count), among: 4) {
            emit(at..<next, header: header, isDamaged: true, to: &sink)
            at = next
            return .moved
        }
        guard end <= buffer.count else {
            if isEnd && !isLocked && !isTrusted(at) {
                skip(1)
                return .moved
            }
            return .needsMore
        }
        let needsProof = !isLocked && !isTrusted(at)
        let isDivided = marks.first(after: at, before: end) != nil
        // The next header confirms this one, and shows whether this access unit continues.
        while needsProof || isDivided || header.mayContinue {
            guard end + framing.headerByteCount <= buffer.count else {
                if !isEnd { return .needsMore }
                break
            }
            if let next = framing.header(at: end, in: buffer) {
                guard header.mayContinue, next.isContinuation, next.byteCount <= Self.maxUnitByteCount - (end - at)
                else { break }
                guard end + next.byteCount <= buffer.count else {
                    if !isEnd { return .needsMore }
                    break
                }
                end += next.byteCount
                followed = (consumed + at, end - at)
                continue
            }
            if options.metadataTrackID != nil, buffer[end...].starts(with: "ID3".utf8) { break }
            if let cut = cutStart(before: end) {
                emit(at..<cut, header: header, isDamaged: true, to: &sink)
                at = cut
                return .moved
            }
            if needsProof {
                skip(1)
                return .moved
            }
            break
        }
        noteSkipped(to: &sink)
        let range = at..<end
        at = end
        isLocked = true
        emit(range, header: header, isDamaged: false, to: &sink)
        return .moved
    }

    /// More than any access unit of E-AC-3: eight substreams, each with eight dependent ones, of 4 KiB.
    private static let maxUnitByteCount = 64 * 4096

    /// Whether a packet begins here, which is as reliable as a header after the frame.
    private func isTrusted(_ offset: Int) -> Bool { marks.contains(offset) }

    /// The offset at which a packet begins with a header, within the frame that would end at `end`.
    ///
    /// - Parameter count: The number of newest packets to check, because earlier ones have been checked.
    private func cutStart(before end: Int, among count: Int = .max) -> Int? {
        marks.marks.suffix(count).first {
            $0.offset > at && $0.offset < end && framing.header(at: $0.offset, in: buffer) != nil
        }?.offset
    }

    /// Before the first frame, checks whether the stream has another format than its container declares. That is the
    /// case if a packet begins with a frame of that format and another one follows. Returns nil if not.
    private mutating func reconsider(isEnd: Bool, to sink: inout EventSink) -> Step? {
        guard framing != .id3 else { return nil }
        for other in AudioFraming.declaredWrongly where other != framing {
            guard buffer.count - at >= other.headerByteCount else {
                if isEnd { continue }
                return .needsMore
            }
            guard let header = other.header(at: at, in: buffer) else { continue }
            let next = at + header.byteCount
            guard buffer.count - next >= other.headerByteCount else {
                if isEnd { continue }
                return .needsMore
            }
            guard other.header(at: next, in: buffer) != nil else { continue }
            sink.note("\(options.name): \(other.codec.rawValue), although it is declared as \(framing.codec.rawValue)")
            framing = other
            track.codec = header.codec
            track.sampleRate = 0
            track.channelCount = 0
            sink.update(track)
            return .moved
        }
        return nil
    }

    private mutating func skip(_ count: Int) {
        at += count
        skippedByteCount += count
        isLocked = false
    }

    private mutating func noteSkipped(to sink: inout EventSink) {
        guard skippedByteCount > 0 else { return }
        sink.note(
            "\(options.name): \(skippedByteCount) bytes before byte \(consumed + at) are not \(framing.codec.rawValue)")
        skippedByteCount = 0
    }

    private mutating func stepOverTag(isEnd: Bool, to sink: inout EventSink) -> Step? {
        guard buffer[at] == 0x49, "ID3".utf8.starts(with: buffer[at...].prefix(3)) else { return nil }
        guard buffer.count - at >= ID3Tag.headerByteCount else { return isEnd ? nil : .needsMore }
        guard let byteCount = ID3Tag.byteCount(ofTagWithHeader: buffer[at..<at + ID3Tag.headerByteCount]),
            byteCount <= TransportStreamDemuxer.maxAccessUnitByteCount
        else { return nil }
        guard at + byteCount <= buffer.count else { return isEnd ? nil : .needsMore }
        noteSkipped(to: &sink)
        emitTag(buffer[at..<at + byteCount], to: &sink)
        at += byteCount
        return .moved
    }

    mutating func emitTag(_ bytes: ArraySlice<UInt8>, to sink: inout EventSink) {
        guard let id = options.metadataTrackID else { return }
        let pts = marks.marks.last { $0.offset <= at }?.pts ?? clock?.now ?? 0
        sink.update(
            MediaTrack(id: id, mediaType: .metadata, codec: .id3, timescale: track.timescale, wrapsAt33Bits: true))
        sink.emit(MediaSample(trackID: id, pts: pts, dts: pts, isSync: true, data: SampleData(bytes)))
    }

    private mutating func emit(
        _ range: Range<Int>, header: AudioFrameHeader, isDamaged: Bool, to sink: inout EventSink
    ) {
        let mark = marks.takeMark(forUnitAt: range.lowerBound)
        var format = (rate: header.sampleRate, samples: header.sampleCount)
        if framing == .loas {
            guard let timing = latmTiming(range, to: &sink) else {
                if !unconfigured.append(.init(data: data(range), mark: mark, isDamaged: isDamaged)) {
                    sink.note("\(options.name): a frame before the first configuration was skipped")
                }
                return
            }
            format = timing
            emitUnconfigured(format, to: &sink)
        }
        if framing == .adts { configure(range, header: header, to: &sink) }
        if framing != .adts && framing != .loas { describe(header, to: &sink) }
        guard let time = time(of: mark, format, to: &sink) else { return }
        let isFirst = !hasSamples
        hasSamples = true
        if options.skipsInformationFrame && isFirst && framing == .mpegAudio
            && MPEGAudioHeader.isInformation(buffer[range])
        {
            // The time of this frame passes. Segments are cut from files that contain it, so otherwise there would be a
            // gap before the next segment.
            sink.note("\(options.name): the first frame is an encoder table without audio")
            track.gapless = MPEGAudioHeader.gapless(buffer[range])
            sink.update(track)
            return
        }
        let body = min(range.lowerBound + header.strippedByteCount, range.upperBound)..<range.upperBound
        emit(data(body), at: time, isDamaged: isDamaged, to: &sink)
    }

    private typealias Format = (rate: Int, samples: Int)

    private mutating func time(
        of mark: PacketMarks.Mark?, _ format: Format, to sink: inout EventSink
    ) -> (pts: Int64, duration: Int64)? {
        if let pts = mark?.pts { clock = SampleClock(start: pts, rate: format.rate) }
        guard let time = clock?.advance(by: format.samples, rate: format.rate) else {
            sink.note("\(options.name): a frame without a timestamp was skipped")
            return nil
        }
        return time
    }

    private func data(_ range: Range<Int>) -> SampleData {
        buffer.withUnsafeBytes { bytes in
            SampleData(count: range.count) { $0.copyMemory(from: .init(rebasing: bytes[range])) }
        }
    }

    private func emit(
        _ data: SampleData, at time: (pts: Int64, duration: Int64), isDamaged: Bool, to sink: inout EventSink
    ) {
        guard data.count > 0 else { return }
        sink.emit(
            MediaSample(
                trackID: track.id, pts: time.pts, dts: time.pts, duration: time.duration, isSync: true,
                isDamaged: isDamaged, data: data, encryption: track.encryption == nil ? nil : .elementaryStream))
    }

    private mutating func describe(_ header: AudioFrameHeader, to sink: inout EventSink) {
        track.codec = header.codec
        track.sampleRate = header.sampleRate
        track.channelCount = header.channelCount
        sink.update(track)
    }

    private mutating func configure(_ range: Range<Int>, header: AudioFrameHeader, to sink: inout EventSink) {
        guard range.count >= ADTSHeader.byteCount else { return }
        // Version, profile, rate and channels. The copyright and length fields change with each frame.
        let b = range.lowerBound
        let fixed = [buffer[b + 1], buffer[b + 2], buffer[b + 3] & 0xc0]
        let isNew = fixed != configuredHeader
        let namesChannels = buffer[b + 2] & 1 != 0 || buffer[b + 3] & 0xc0 != 0
        guard isNew || !namesChannels, let adts = ADTSHeader(parsing: buffer[range]) else { return }
        if isNew { hasElement = false }
        configuredHeader = fixed
        if isNew, adts.rawDataBlockCount > 1 {
            sink.note("\(options.name): \(adts.rawDataBlockCount) raw data blocks in one ADTS frame")
        }
        let body = buffer[min(b + adts.headerByteCount, range.upperBound)..<range.upperBound]
        let configuration = adts.configuration(payload: body)
        if !namesChannels {
            guard isNew || configuration.channelCount > 0 else { return }
            hasElement = configuration.channelCount > 0
        }
        track.configuration = configuration.bytes
        track.sampleRate = adts.sampleRate
        track.channelCount = configuration.channelCount
        sink.update(track)
    }

    // MARK: LATM

    private mutating func latmTiming(_ range: Range<Int>, to sink: inout EventSink) -> Format? {
        do throws(MediaError) {
            if case .configuration(let found) = try LATMConfiguration.parse(buffer[range].dropFirst(3)) {
                latm = found
            }
        } catch {
            sink.note("\(options.name): \(error.text)")
        }
        guard let latm else { return nil }
        track.sampleRate = latm.audio.coreSampleRate
        track.channelCount = latm.audio.channelCount
        sink.update(track)
        return (latm.audio.coreSampleRate, latm.audio.samplesPerFrame * latm.subframeCount)
    }

    private mutating func dropUnconfigured(to sink: inout EventSink) {
        let dropped = unconfigured.takeAll().count
        if dropped > 0 {
            sink.note("\(options.name): \(dropped) frames before the first configuration were skipped")
        }
    }

    private mutating func emitUnconfigured(_ format: Format, to sink: inout EventSink) {
        for frame in unconfigured.takeAll() {
            guard let time = time(of: frame.mark, format, to: &sink) else { continue }
            emit(frame.data, at: time, isDamaged: frame.isDamaged, to: &sink)
        }
    }
}

/// Counts time in audio samples from a timestamp in units of 1/90 000 s.
struct SampleClock {
    private var start: Int64
    private var sampleCount: Int64 = 0
    private var rate: Int

    init(start: Int64, rate: Int) {
        self.start = start
        self.rate = rate
    }

    var now: Int64 { time(at: sampleCount) }

    mutating func advance(by samples: Int, rate: Int) -> (pts: Int64, duration: Int64) {
        let pts = now
        if rate != self.rate { self = SampleClock(start: pts, rate: rate) }
        sampleCount += Int64(samples)
        return (pts, now &- pts)
    }

    mutating func move(by distance: Int64) { start = start &+ distance }

    private func time(at sample: Int64) -> Int64 {
        guard rate > 0 else { return start }
        let exact = Int128(sample) * 90_000
        return start &+ Int64(clamping: (exact + Int128(rate / 2)) / Int128(rate))
    }
}
