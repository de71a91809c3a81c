import CLibAV
import Glibc
package import HLSKitMedia

/// Muxes samples into a container with one of libavformat's muxers. Use it on one thread at a time.
///
/// libavformat never opens a file because bytes go to the two closures.
package final class Muxer {
    /// Receives the bytes. It keeps its own errors, and the muxer only learns that it failed.
    package final class Sink {
        let write: (UnsafeRawBufferPointer) -> Bool
        /// Seeks to an offset from the start, or nil if the output is not seekable.
        let seek: ((Int64) -> Bool)?

        package init(write: @escaping (UnsafeRawBufferPointer) -> Bool, seek: ((Int64) -> Bool)?) {
            self.write = write
            self.seek = seek
        }

        fileprivate var position: Int64 = 0
        fileprivate var end: Int64 = 0
        /// Names of sample entries that libavformat cannot write, by the names that it writes instead.
        var entryNames: [String: String] = [:]

        var additions = HeaderAdditions()

        fileprivate func put(_ bytes: UnsafeRawBufferPointer) -> Bool {
            let place = entryNames.isEmpty ? nil : entryName(in: bytes)
            // An MP4 file whose header is written last is completed with ``Muxer/complete(header:)``. Matroska's header is
            // written first, and again at the end.
            let isHeader =
                position < HeaderAdditions.maximumByteCount && !additions.isEmpty
                && (seek == nil || !additions.matroskaLanguages.isEmpty)
            guard place != nil || isHeader else { return write(bytes) }
            var bytes = Array(bytes)
            if let place { bytes.replaceSubrange(place.offset..<place.offset + 4, with: place.name.utf8) }
            if isHeader { additions.extensions.removeFirst(additions.add(to: &bytes)) }
            return bytes.withUnsafeBytes { write($0) }
        }

        /// Finds the name of a sample description box to replace, and the new name. A single libavformat buffer usually
        /// contains the whole box.
        private func entryName(in bytes: UnsafeRawBufferPointer) -> (offset: Int, name: String)? {
            // Version and flags, the number of entries, and the entry's size are between the two names.
            let start = Array("stsd".utf8) + [0, 0, 0, 0, 0, 0, 0, 1]
            guard let base = bytes.baseAddress else { return nil }
            var at = 0
            while at < bytes.count, let next = memchr(base + at, Int32(start[0]), bytes.count - at) {
                at = UnsafeRawPointer(next) - base
                let offset = at + start.count + 4
                guard offset + 4 <= bytes.count else { return nil }
                if bytes[at...].starts(with: start),
                    let other = entryNames[String(decoding: bytes[offset..<offset + 4], as: UTF8.self)]
                {
                    return (offset, other)
                }
                at += 1
            }
            return nil
        }
    }

    /// The time of a sample on the output's timeline, in units of `timescale` per second.
    package struct Timing {
        package var presentation: Int64
        package var decoding: Int64
        package var duration: Int64
        package var timescale: Int32

        package init(presentation: Int64, decoding: Int64, duration: Int64, timescale: Int32) {
            self.presentation = presentation
            self.decoding = decoding
            self.duration = duration
            self.timescale = timescale
        }
    }

    /// libavformat collects small writes up to this size before it calls the sink, which has a larger buffer.
    private static let bufferByteCount = 32 * 1024
    /// The largest size of a track in the header, without its configuration.
    private static let trackByteCount = 2048

    let sink: Sink
    let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: Packet
    /// The last decoding time of each stream, in its units in the file.
    package var lastDTS: [Int64?] { orders.map(\.last) }
    private var orders: [DecodingOrder] = []
    private var written: [Int64?]
    /// The duration of the last but one sample of each stream, from its decoding times.
    private var lastStep: [Int64]
    private var isOpen = true

    /// Creates a muxer and writes the header.
    ///
    /// - Parameters:
    ///   - streamIDs: The numbers of the streams (PIDs). If empty, the muxer chooses them.
    ///   - options: Private options of the muxer by name.
    ///   - metadata: The tags and chapters to write with the header.
    package init(
        format: String, tracks: [MediaTrack], streamIDs: [Int] = [], options: [String: String],
        metadata: FileMetadata = FileMetadata(), sink: Sink
    ) throws(CodecError) {
        LibAVLog.silence
        self.sink = sink
        written = Array(repeating: nil, count: tracks.count)
        lastStep = Array(repeating: 0, count: tracks.count)
        packet = try Packet()
        try FormatLibrary.check()
        var context: UnsafeMutablePointer<AVFormatContext>?
        let code = avformat_alloc_output_context2(&context, nil, format, nil)
        guard code >= 0, let context else { throw CodecError(call: "avformat_alloc_output_context2", code: code) }
        self.context = context
        // Dolby Vision, spherical video, and FLAC in MP4 are standards, but some versions of libavformat do not treat
        // them as such.
        context.pointee.strict_std_compliance = -2
        if format == "mpegts" {
            // With this delay the first frame is at 1.4 s, as in files of `ffmpeg`, even if a new muxer continues a
            // file. By default, libavformat would move each start to zero.
            context.pointee.max_delay = 700_000
            context.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED
        }
        // A buffer contains a whole header, so that it can be completed.
        try attachSink(
            byteCount: tracks.reduce(Self.bufferByteCount) { $0 + Self.trackByteCount + $1.configuration.count })
        for (index, track) in tracks.enumerated() {
            try add(track)
            if index < streamIDs.count { context.pointee.streams[index]?.pointee.id = Int32(streamIDs[index]) }
        }
        set(metadata.tags)
        add(metadata.chapters)
        var options = options
        // Checksums would not include the additions.
        if !sink.additions.matroskaLanguages.isEmpty { options["write_crc32"] = "0" }
        try writeHeader(options)
        for (index, track) in tracks.enumerated() {
            // Writing the header may have changed the time base.
            let unit = context.pointee.streams[index]?.pointee.time_base ?? AVRational(num: 1, den: 1)
            orders.append(
                DecodingOrder(
                    mayReorder: Self.mayReorder(track.codec), unitsPerSecond: Int64(unit.den / max(1, unit.num))))
        }
    }

    private static func mayReorder(_ codec: MediaCodec) -> Bool {
        switch codec {
        case .h264, .hevc, .mpeg1Video, .mpeg2Video, .mpeg4Video: true
        default: false
        }
    }

    deinit {
        if let io = context.pointee.pb {
            av_free(io.pointee.buffer)
            avio_context_free(&context.pointee.pb)
        }
        avformat_free_context(context)
    }

    /// Queues or writes one sample. Decoding times that do not increase, or exceed presentation times, are moved.
    package func write(_ sample: MediaSample, streamAt index: Int, timing: Timing) throws(CodecError) {
        guard orders.indices.contains(index), let stream = context.pointee.streams[index] else { return }
        let unit = stream.pointee.time_base
        guard timing.timescale > 0, let pts = rescaled(timing.presentation, timing, to: unit),
            let dts = rescaled(timing.decoding, timing, to: unit)
        else {
            throw CodecError(
                call: "av_interleaved_write_frame", code: CodecError.invalidArgument, text: "time out of range")
        }
        let duration = max(0, rescaled(timing.duration, timing, to: unit) ?? 0)
        let entry = DecodingOrder.Entry(sample: sample, presentation: pts, decoding: dts, duration: duration)
        try orders[index].add(entry) { entry throws(CodecError) in try put(entry, streamAt: index, unit: unit) }
    }

    private func put(_ entry: DecodingOrder.Entry, streamAt index: Int, unit: AVRational) throws(CodecError) {
        if let last = written[index], entry.decoding > last + 1 { lastStep[index] = entry.decoding - last }
        written[index] = entry.decoding
        try packet.wrap(entry.sample)
        packet.raw.pointee.stream_index = Int32(index)
        packet.raw.pointee.dts = entry.decoding
        packet.raw.pointee.pts = entry.presentation
        // Transport streams do not declare frame durations. Without a duration, a file would end at the start of its
        // last frame.
        packet.raw.pointee.duration =
            entry.duration > 0 ? entry.duration : min(lastStep[index], Int64(unit.den / max(1, unit.num)))
        try check(av_interleaved_write_frame(context, packet.raw), "av_interleaved_write_frame")
    }

    private func settle() throws(CodecError) {
        for index in orders.indices {
            guard let unit = context.pointee.streams[index]?.pointee.time_base else { continue }
            try orders[index].finish { entry throws(CodecError) in try put(entry, streamAt: index, unit: unit) }
        }
    }

    /// Continues a stream that another muxer has written up to this time.
    package func continueStream(at index: Int, after time: Int64?) {
        guard orders.indices.contains(index) else { return }
        orders[index].resume(after: time)
        written[index] = time
    }

    package func flush() {
        if isOpen { avio_flush(context.pointee.pb) }
    }

    /// Adds what libavformat cannot write to the `moov` box of an MP4 file. The size of the box does not change.
    package func complete(header: inout [UInt8]) {
        _ = sink.additions.add(to: &header)
    }

    /// Whether all samples have been written, but the trailer is not as intended.
    package private(set) var hasOnlyTrailerFailed = false

    package func finish() throws(CodecError) {
        guard isOpen else { return }
        var failure: CodecError?
        do throws(CodecError) { try settle() } catch { failure = error }
        isOpen = false
        let code = av_write_trailer(context)
        avio_flush(context.pointee.pb)
        hasOnlyTrailerFailed = failure == nil && code < 0
        if let failure { throw failure }
        try check(code, "av_write_trailer")
    }

    // MARK: - Setting up

    private func attachSink(byteCount: Int) throws(CodecError) {
        let opaque = Unmanaged.passUnretained(sink).toOpaque()
        let byteCount = Int32(clamping: byteCount)
        var buffer = av_malloc(Int(byteCount))
        let write: CLibAV_write_callback = { opaque, bytes, count in
            guard let opaque, let bytes, count > 0 else { return 0 }
            let sink = Unmanaged<Muxer.Sink>.fromOpaque(opaque).takeUnretainedValue()
            guard sink.put(UnsafeRawBufferPointer(start: bytes, count: Int(count))) else {
                return CLibAV_error_errno(EIO)
            }
            sink.position += Int64(count)
            sink.end = max(sink.end, sink.position)
            return count
        }
        let seek: CLibAV_seek_callback = { opaque, offset, whence in
            guard let opaque else { return Int64(CodecError.invalidArgument) }
            let sink = Unmanaged<Muxer.Sink>.fromOpaque(opaque).takeUnretainedValue()
            if whence & AVSEEK_SIZE != 0 { return sink.end }
            let base: Int64? =
                switch whence & ~AVSEEK_FORCE {
                case SEEK_SET: 0
                case SEEK_CUR: sink.position
                case SEEK_END: sink.end
                default: nil
                }
            guard let base, let seek = sink.seek else { return Int64(CodecError.invalidArgument) }
            let (target, overflow) = base.addingReportingOverflow(offset)
            guard !overflow, target >= 0, seek(target) else { return Int64(CLibAV_error_errno(EIO)) }
            sink.position = target
            return target
        }
        guard let library = FormatLibrary.installed else {
            av_freep(&buffer)
            throw CodecError(call: "dlopen", code: CodecError.noLibrary)
        }
        let io = CLibAV_alloc_writer(
            library, buffer?.assumingMemoryBound(to: UInt8.self), byteCount, opaque, write,
            sink.seek == nil ? nil : seek)
        guard buffer != nil, let io else {
            av_freep(&buffer)
            throw CodecError(call: "avio_alloc_context", code: CodecError.outOfMemory)
        }
        context.pointee.pb = io
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    }

    private func writeHeader(_ options: [String: String]) throws(CodecError) {
        var dictionary: OpaquePointer?
        defer { av_dict_free(&dictionary) }
        for (name, value) in options { av_dict_set(&dictionary, name, value, 0) }
        let code = avformat_write_header(context, &dictionary)
        if code < 0 { isOpen = false }
        try check(code, "avformat_write_header")
    }

    private func check(_ code: Int32, _ call: String) throws(CodecError) {
        guard code < 0 else { return }
        throw CodecError(call: call, code: code)
    }

    private func rescaled(_ value: Int64, _ timing: Timing, to unit: AVRational) -> Int64? {
        let value = av_rescale_q(value, AVRational(num: 1, den: timing.timescale), unit)
        // Times near the ends of the range are invalid, and libavformat's arithmetic does not check for overflow.
        return value.magnitude < 1 << 60 ? value : nil
    }
}
