/// Creates access units from the packets of a video stream.
///
/// Usually a packet is an access unit. If not, units are cut at delimiters, parameter sets and first slices, and joined
/// across packets. The end of a packet with a declared length ends the unit only after a first packet has shown that
/// packets begin with units.
struct VideoAssembler {
    private(set) var track: MediaTrack
    private var buffer = SampleBuffer()
    private var marks = PacketMarks()
    private var scanner: VideoUnitScanner
    /// A picture of one field that ends before other bytes of its packet.
    private var heldField: VideoUnitScanner.Unit?
    /// Whether too few bytes of the newest packet have arrived to recognize its start.
    private var isHeadPending = false
    /// Whether a packet began with an access unit.
    private var hasWholePackets = false
    /// Whether an access unit continued in a second packet.
    private var hasDividedUnits = false
    private var endedWithPacket = false
    /// Whether the unit exceeded the limit, so that all data is dropped until the next packet.
    private var isSkipping = false
    private var parameterSet: [UInt8] = []
    private var frameDuration: VideoUsabilityInfo.FrameDuration?
    private var clock: PictureClock

    /// The number of bytes that show whether a packet begins an access unit.
    private static let headByteCount = 16
    /// A unit that fills a packet of this size may be incomplete because no packet can be longer than 65 535 bytes.
    private static let nearlyLongestPacket = 0xff00

    var recopiedByteCount: Int { buffer.recopiedByteCount }

    init(track: MediaTrack) {
        self.track = track
        scanner = VideoUnitScanner(isHEVC: track.codec == .hevc)
        clock = PictureClock(isHEVC: track.codec == .hevc)
    }

    mutating func beginPacket(pts: Int64?, dts: Int64?, isRandomAccess: Bool) {
        marks.append(.init(offset: buffer.count, pts: pts, dts: dts, isRandomAccess: isRandomAccess))
        isHeadPending = true
        isSkipping = false
    }

    mutating func append(_ bytes: Span<UInt8>, to sink: inout EventSink) {
        guard !isSkipping else { return }
        if buffer.count + bytes.count > TransportStreamDemuxer.maxAccessUnitByteCount {
            scan(isEnd: false, to: &sink)
            if buffer.count + bytes.count > TransportStreamDemuxer.maxAccessUnitByteCount {
                sink.note("PID \(track.id): an access unit of more than \(buffer.count) bytes was skipped")
                removeAll()
                isSkipping = true
                return
            }
        }
        bytes.withUnsafeBytes { buffer.append($0) }
        if isHeadPending, let newest = marks.marks.last, buffer.count - newest.offset >= Self.headByteCount {
            isHeadPending = false
            scan(isEnd: false, to: &sink)
        }
    }

    /// Ends a packet that declared its length.
    mutating func endPacket(byteCount: Int, to sink: inout EventSink) {
        guard hasWholePackets, !hasDividedUnits, byteCount < Self.nearlyLongestPacket else { return }
        scan(isEnd: true, to: &sink)
        endedWithPacket = buffer.isEmpty
    }

    mutating func finish(isDamaged: Bool, to sink: inout EventSink) {
        scan(isEnd: true, isDamaged: isDamaged, to: &sink)
        if !buffer.isEmpty {
            sink.note("PID \(track.id): \(buffer.count) bytes without a picture were skipped")
        }
        removeAll()
    }

    /// Whether packets do not begin with units, so that the end of a packet does not end a unit.
    var mayContinue: Bool { hasDividedUnits && !buffer.isEmpty }

    /// Emits all complete units. The rest may continue in the next segment.
    mutating func endSegment(to sink: inout EventSink) { scan(isEnd: false, to: &sink) }

    mutating func moveTimes(by distance: Int64) {
        marks.moveTimes(by: distance)
        clock.move(by: distance)
    }

    private mutating func removeAll() {
        buffer.removeAll()
        marks.removeAll()
        scanner.restart()
        isHeadPending = false
        heldField = nil
    }

    private mutating func scan(isEnd: Bool, isDamaged: Bool = false, to sink: inout EventSink) {
        let scanned = buffer.withUnsafeBytes { scanner.scan($0, isEnd: isEnd) }
        var units = joinedFields((heldField.map { [$0] } ?? []) + scanned)
        heldField = nil
        guard let last = units.last else { return }
        // The other field may follow in the same packet.
        if !isEnd, last.field != nil, marks.first(after: last.start + 3, before: .max) == nil {
            heldField = units.removeLast()
        }
        let count = heldField?.start ?? last.end
        var left = count
        for (index, unit) in units.enumerated() {
            let isLast = index == units.count - 1
            // Emitting the unit has also removed all bytes before it.
            if emit(unit, isDamaged: isDamaged && isLast, takes: isLast && unit.end == count, to: &sink) { left = 0 }
        }
        buffer.removeFirst(left)
        scanner.removeBytes(count)
        marks.removeBytes(count)
        heldField?.removeBytes(count)
    }

    /// Joins two fields of a frame that share a packet, and therefore a timestamp.
    ///
    /// Decoders combine such fields into one picture.
    private func joinedFields(_ units: [VideoUnitScanner.Unit]) -> [VideoUnitScanner.Unit] {
        guard units.contains(where: { $0.field != nil }) else { return units }
        var joined: [VideoUnitScanner.Unit] = []
        for unit in units {
            guard var first = joined.last, first.isFirstField(before: unit),
                marks.first(after: first.start + 3, before: unit.end - 3) == nil
            else {
                joined.append(unit)
                continue
            }
            first.end = unit.end
            first.hasOtherSlices = first.hasOtherSlices || unit.hasOtherSlices
            first.field = nil
            first.holdsTwoFields = true
            joined[joined.count - 1] = first
        }
        return joined
    }

    /// - Parameter takes: Whether the bytes up to the end of the unit are no longer needed.
    /// - Returns: Whether they have been removed.
    private mutating func emit(
        _ unit: VideoUnitScanner.Unit, isDamaged: Bool, takes: Bool, to sink: inout EventSink
    ) -> Bool {
        guard let first = unit.firstNALUnit else { return false }
        // Zeros may precede the start code of a packet's first NAL unit.
        if marks.first(after: unit.start + 3, before: unit.end - 3) != nil { hasDividedUnits = true }
        if marks.first(after: unit.end - 4, before: unit.end + 1) != nil { hasWholePackets = true }
        if endedWithPacket {
            endedWithPacket = false
            if unit.beginsWithinPicture {
                hasDividedUnits = true
                sink.note("PID \(track.id): an access unit was given out in two parts")
            }
        }
        if first > unit.start {
            sink.note("PID \(track.id): \(first - unit.start) bytes before the first start code were skipped")
        }
        if let range = unit.parameterSet { update(parameterSet: buffer.bytes(range), in: &sink) }
        if unit.isSync {
            let old = track
            buffer.withUnsafeBytes { track.describeLight(byMessagesIn: .init(rebasing: $0[first..<unit.end])) }
            if track != old { sink.update(track) }
        }
        // Some muxers leave the zero byte of a four-byte start code in the previous packet.
        var mark = marks.takeMark(forUnitAt: first, slack: 3)
        if mark?.pts == nil {
            mark = marks.timeOfRest(after: first, upTo: unit.end, isLast: unit.end == buffer.count) ?? mark
        }
        let signaled = mark.flatMap { mark in mark.pts.map { ($0, mark.dts) } }
        guard let (pts, dts) = clock.time(signaled: signaled, order: unit.order, frame: frameDuration) else {
            sink.note("PID \(track.id): an access unit before the first timestamp was skipped")
            return false
        }
        let isRandomAccess = mark?.isRandomAccess ?? false
        let data = takes ? buffer.take(first..<unit.end) : buffer.copy(first..<unit.end)
        var sample = MediaSample(
            trackID: track.id, pts: pts, dts: dts, isSync: unit.isSync || (isRandomAccess && unit.isIntra),
            isDamaged: isDamaged, data: data, encryption: track.encryption == nil ? nil : .elementaryStream)
        sample.holdsTwoFields = unit.holdsTwoFields
        sink.emit(sample)
        return takes
    }

    private mutating func update(parameterSet bytes: [UInt8], in sink: inout EventSink) {
        guard parameterSet != bytes else { return }
        parameterSet = bytes
        do throws(MediaError) {
            frameDuration = try track.describe(by: bytes)
        } catch {
            sink.note("PID \(track.id): \(error.text)")
            return
        }
        sink.update(track)
    }
}
