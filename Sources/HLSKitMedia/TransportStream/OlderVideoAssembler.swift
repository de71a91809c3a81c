/// Creates access units from the packets of MPEG-1, MPEG-2 and MPEG-4 part 2 video.
///
/// A unit is a picture with the headers before it. Two fields of a frame are one unit. A unit ends at the start of the
/// next one, regardless of packet boundaries.
struct OlderVideoAssembler {
    private(set) var track: MediaTrack
    private let scanner: OlderVideoScanner
    private var buffer: [UInt8] = []
    private var marks = PacketMarks()
    private var clock = PictureClock(isHEVC: false)
    private var frameDuration: VideoUsabilityInfo.FrameDuration?
    private var position = 0
    private var unit = Unit()
    /// Whether the unit exceeded the limit, so that all data is dropped until the next packet.
    private var isSkipping = false
    /// Whether a packet began within an access unit.
    private var hasDividedUnits = false

    private struct Unit {
        var start: Int?
        var frameCount = 0
        var isField = false
        var isIntra = false
        var hasHeader = false
    }

    /// The number of bytes after a start code that suffice for reading.
    private static let headByteCount = 64

    init(track: MediaTrack) {
        self.track = track
        scanner = OlderVideoScanner(isMPEG4: track.codec == .mpeg4Video)
    }

    mutating func beginPacket(pts: Int64?, dts: Int64?) {
        marks.append(.init(offset: buffer.count, pts: pts, dts: dts, isRandomAccess: false))
        isSkipping = false
    }

    mutating func append(_ bytes: Span<UInt8>, to sink: inout EventSink) {
        guard !isSkipping else { return }
        guard buffer.count + bytes.count <= TransportStreamDemuxer.maxAccessUnitByteCount else {
            sink.note("PID \(track.id): an access unit of more than \(buffer.count) bytes was skipped")
            removeAll()
            isSkipping = true
            return
        }
        bytes.withUnsafeBufferPointer { buffer.append(contentsOf: $0) }
        scan(isEnd: false, to: &sink)
    }

    mutating func finish(isDamaged: Bool, to sink: inout EventSink) {
        scan(isEnd: true, to: &sink)
        emit(upTo: buffer.count, isDamaged: isDamaged, to: &sink)
        removeAll()
    }

    /// Whether packets do not begin with units, so that the end of a packet does not end a unit.
    var mayContinue: Bool { hasDividedUnits && !buffer.isEmpty }

    mutating func moveTimes(by distance: Int64) {
        marks.moveTimes(by: distance)
        clock.move(by: distance)
    }

    private mutating func removeAll() {
        buffer.removeAll(keepingCapacity: true)
        marks.removeAll()
        position = 0
        unit = Unit()
    }

    private mutating func scan(isEnd: Bool, to sink: inout EventSink) {
        while true {
            let code = buffer.withUnsafeBytes { NALUnits.startCode(in: $0, from: position) }
            guard let code, code + 4 <= buffer.count, isEnd || code + 4 + Self.headByteCount <= buffer.count else {
                position = max(position, code ?? buffer.count - 2)
                return
            }
            position = code + 3
            take(code, to: &sink)
        }
    }

    private mutating func take(_ code: Int, to sink: inout EventSink) {
        var code = code
        let type = buffer[code + 3]
        let element = scanner.element(type)
        let isSecondField = element == .frame && unit.isField && unit.frameCount == 1
        if element != .other, unit.frameCount > 0, !isSecondField {
            emit(upTo: code, isDamaged: false, to: &sink)
            code = 0
        }
        if unit.start == nil { unit.start = code }
        let rest = buffer[min(code + 4, buffer.count)..<min(code + 4 + Self.headByteCount, buffer.count)]
        switch element {
        case .frame:
            unit.frameCount += 1
            if unit.frameCount == 1 { unit.isIntra = scanner.isIntra(rest) }
        case .header:
            guard let format = scanner.format(type, rest) else { break }
            unit.hasHeader = true
            (track.width, track.height) = (format.width, format.height)
            frameDuration = format.frameDuration
            sink.update(track)
        case .other:
            if type == 0xb5, unit.frameCount == 0, let count = scanner.fieldCount(rest), count != track.fieldCount {
                track.fieldCount = count
                sink.update(track)
            }
            if type == 0xb5, unit.frameCount == 1, scanner.isField(rest) { unit.isField = true }
        }
    }

    private mutating func emit(upTo end: Int, isDamaged: Bool, to sink: inout EventSink) {
        let ended = unit
        unit = Unit()
        defer {
            buffer.removeFirst(end)
            marks.removeBytes(end)
            position = max(0, position - end)
        }
        guard let start = ended.start, ended.frameCount > 0 else { return }
        if marks.first(after: start + 3, before: end - 3) != nil { hasDividedUnits = true }
        let mark = marks.takeMark(forUnitAt: start, slack: 3)
        let signaled = mark.flatMap { mark in mark.pts.map { ($0, mark.dts) } }
        guard let (pts, dts) = clock.time(signaled: signaled, order: nil, frame: frameDuration) else {
            sink.note("PID \(track.id): an access unit before the first timestamp was skipped")
            return
        }
        sink.emit(
            MediaSample(
                trackID: track.id, pts: pts, dts: dts, isSync: ended.isIntra && (ended.hasHeader || scanner.isMPEG4),
                isDamaged: isDamaged, data: SampleData(buffer[start..<end])))
    }
}
