import CLibAV
import Glibc
package import HLSKitMedia

/// Reads the samples of a media file with one of libavformat's demuxers. Used by one thread at a time.
///
/// libavformat opens no file: it reads and seeks through the source, and only the given demuxer is used.
package final class ContainerReader {
    /// The containers, by libavformat's names of their demuxers.
    package enum Format: String, Sendable, Hashable, CaseIterable {
        case matroska, wav, aiff, caf, flac, ogg, avi
    }

    package final class Source {
        let byteCount: Int64
        let read: (_ offset: Int64, _ count: Int) -> [UInt8]?
        fileprivate var position: Int64 = 0
        /// Whether reading has failed, which ends the file for libavformat.
        package fileprivate(set) var hasFailed = false

        /// - Parameter read: Returns at most `count` bytes, none at the end of the file, or nil if reading fails.
        package init(byteCount: Int64, read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]?) {
            self.byteCount = byteCount
            self.read = read
        }
    }

    /// A sample with the index of its track. Text samples contain the text in the track's format.
    package struct Entry: Sendable {
        package var sample: MediaSample
        package var trackIndex: Int
    }

    private static let bufferByteCount: Int32 = 64 * 1024
    private static let maximumTrackCount = 64
    private static let maximumConfigurationByteCount = 1 << 20
    private static let maximumSampleByteCount = 64 << 20
    /// A file with more key frames is not divided at them.
    private static let maximumIndexCount: Int32 = 1 << 20
    private static let maximumTextByteCount = 1 << 16
    private static let maximumFrameDuration = Int64(1) << 50

    private let source: Source
    private var context: FormatLibrary.Context?
    private var io: FormatLibrary.Writer?
    private let packet: Packet
    /// The index of the track of each stream, and the factor from the stream's units to the track's.
    private var places: [(index: Int, factor: Int64)?] = []
    private var streams: [Int] = []
    /// The next decoding time of each track, for packets without one, or nil after a seek.
    private var nextTimes: [Int64?] = []
    /// The frame duration of each track, and the time from decoding to presentation of its key frames.
    private var delays: [(frame: Int64, presentation: Int64)] = []

    /// The tracks. Their IDs are the numbers of libavformat's streams, from 1.
    package private(set) var tracks: [MediaTrack] = []
    package private(set) var frameRates: [Double?] = []
    /// The time of the first sample of each track, or 0 if unknown.
    package private(set) var startTimes: [Int64] = []
    package private(set) var metadata = FileMetadata()
    package private(set) var duration: Duration?

    package init(_ format: Format, source: Source) throws(CodecError) {
        LibAVLog.silence
        self.source = source
        packet = try Packet()
        try FormatLibrary.check()
        guard let input = av_find_input_format(format.rawValue), let context = avformat_alloc_context() else {
            throw CodecError(call: "av_find_input_format", code: CodecError.noLibrary)
        }
        self.context = context
        try attach(to: context)
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        // The file cannot name other files.
        av_dict_set(&options, "protocol_whitelist", "none", 0)
        av_dict_set(&options, "max_streams", "256", 0)
        // On failure, it frees the context.
        try check(avformat_open_input(&self.context, nil, input, &options), "avformat_open_input")
        // Decoders replace the colour by the stream's, even if the stream declares none.
        let colors = colors
        try check(avformat_find_stream_info(self.context, nil), "avformat_find_stream_info")
        describe()
        for (place, color) in zip(places, colors) {
            if let place, let color { tracks[place.index].colorInformation = color }
        }
        if format == .matroska { noteExtendedLanguages() }
    }

    deinit {
        avformat_close_input(&context)
        guard let io else { return }
        av_free(io.pointee.buffer)
        avio_context_free(&self.io)
    }

    private func check(_ code: Int32, _ call: String) throws(CodecError) {
        guard code < 0 else { return }
        throw CodecError(call: call, code: code)
    }

    private func attach(to context: FormatLibrary.Context) throws(CodecError) {
        guard let library = FormatLibrary.installed, let buffer = av_malloc(Int(Self.bufferByteCount)) else {
            throw CodecError(call: "av_malloc", code: CodecError.outOfMemory)
        }
        io = CLibAV_alloc_reader(
            library, buffer.assumingMemoryBound(to: UInt8.self), Self.bufferByteCount,
            Unmanaged.passUnretained(source).toOpaque(), Self.read, Self.seek)
        guard let io else {
            av_free(buffer)
            throw CodecError(call: "avio_alloc_context", code: CodecError.outOfMemory)
        }
        context.pointee.pb = io
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    }

    private static let read: CLibAV_read_callback = { opaque, target, count in
        guard let opaque, let target, count > 0 else { return CodecError.invalidArgument }
        let source = Unmanaged<Source>.fromOpaque(opaque).takeUnretainedValue()
        guard let bytes = source.read(source.position, Int(count)), bytes.count <= Int(count) else {
            source.hasFailed = true
            return CLibAV_error_errno(EIO)
        }
        guard !bytes.isEmpty else { return CLibAV_error_eof() }
        bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: target, count: bytes.count).copyMemory(from: $0) }
        source.position += Int64(bytes.count)
        return Int32(bytes.count)
    }

    private static let seek: CLibAV_seek_callback = { opaque, offset, whence in
        guard let opaque else { return Int64(CodecError.invalidArgument) }
        let source = Unmanaged<Source>.fromOpaque(opaque).takeUnretainedValue()
        if whence & AVSEEK_SIZE != 0 { return source.byteCount }
        let base: Int64? =
            switch whence & ~AVSEEK_FORCE {
            case SEEK_SET: 0
            case SEEK_CUR: source.position
            case SEEK_END: source.byteCount
            default: nil
            }
        guard let (target, overflow) = base.map({ $0.addingReportingOverflow(offset) }), !overflow, target >= 0 else {
            return Int64(CodecError.invalidArgument)
        }
        source.position = target
        return target
    }

    // MARK: Describing

    private func describe() {
        guard let context = context?.pointee else { return }
        if context.duration > 0 { duration = .microseconds(context.duration) }
        for tag in Self.entries(of: context.metadata) { metadata.add(tag.value, for: tag.name) }
        for index in 0..<min(Int(context.nb_chapters), FileMetadata.maximumChapterCount) {
            guard let chapter = context.chapters?[index]?.pointee,
                let start = Self.duration(chapter.start, chapter.time_base), start >= .zero
            else { continue }
            let title = Self.entries(of: chapter.metadata).first { $0.name == "title" }?.value ?? ""
            metadata.add(
                FileMetadata.Chapter(start: start, end: Self.duration(chapter.end, chapter.time_base), title: title))
        }
        for index in 0..<Int(context.nb_streams) {
            guard tracks.count < Self.maximumTrackCount, let stream = context.streams?[index],
                let (track, factor) = Self.track(stream)
            else {
                places.append(nil)
                context.streams?[index]?.pointee.discard = AVDISCARD_ALL
                continue
            }
            places.append((tracks.count, factor))
            streams.append(index)
            tracks.append(track)
            let rate = stream.pointee.avg_frame_rate
            let isKnown = rate.num > 0 && rate.den > 0
            frameRates.append(isKnown ? Double(rate.num) / Double(rate.den) : nil)
            let frame =
                isKnown ? min(Int64(track.timescale) * Int64(rate.den) / Int64(rate.num), Self.maximumFrameDuration) : 0
            let reordering = track.mediaType == .video ? stream.pointee.codecpar?.pointee.video_delay ?? 0 : 0
            delays.append((frame, frame * Int64(min(max(0, reordering), 16))))
            nextTimes.append(nil)
            let (start, overflow) = stream.pointee.start_time.multipliedReportingOverflow(by: factor)
            startTimes.append(overflow || start.magnitude >= 1 << 60 ? 0 : start)
        }
    }

    /// The colour of each stream.
    private var colors: [ColorInformation?] {
        guard let context = context?.pointee else { return [] }
        return (0..<Int(context.nb_streams)).map { index in
            context.streams?[index]?.pointee.codecpar.flatMap { Self.color(of: $0.pointee) }
        }
    }

    /// Notes the BCP 47 tags of Matroska's tracks, which libavformat does not read.
    private func noteExtendedLanguages() {
        guard let context = context?.pointee else { return }
        let languages = MatroskaLanguages { [source] offset, count in source.read(offset, count) }
        // Each track is a stream. The streams of attachments follow.
        let streams = (0..<Int(context.nb_streams)).filter { index in
            guard let stream = context.streams?[index]?.pointee else { return false }
            return stream.codecpar?.pointee.codec_type != AVMEDIA_TYPE_ATTACHMENT
                && stream.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
        guard languages.tags.count == streams.count else { return }
        for (index, tag) in zip(streams, languages.tags) {
            if let tag, let place = places[index] { tracks[place.index].language = tag }
        }
    }

    private static func entries(of dictionary: OpaquePointer?) -> [FileMetadata.Tag] {
        var tags: [FileMetadata.Tag] = []
        var entry: UnsafeMutablePointer<AVDictionaryEntry>?
        while tags.count < 256, let next = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
            entry = next
            guard let key = next.pointee.key, let value = next.pointee.value else { continue }
            tags.append(FileMetadata.Tag(name: String(cString: key).lowercased(), value: String(cString: value)))
        }
        return tags
    }

    private static func duration(_ value: Int64, _ unit: AVRational) -> Duration? {
        let microseconds = av_rescale_q(value, unit, AVRational(num: 1, den: 1_000_000))
        return value.magnitude < 1 << 61 && microseconds.magnitude < 1 << 60 ? .microseconds(microseconds) : nil
    }

    /// Describes a stream, and returns the factor from its units to the track's units. Returns nil for streams without
    /// media.
    private static func track(_ stream: UnsafeMutablePointer<AVStream>) -> (MediaTrack, Int64)? {
        let unit = stream.pointee.time_base
        guard let parameters = stream.pointee.codecpar?.pointee, unit.num > 0, unit.den > 0,
            // Cover art is not video.
            stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        else { return nil }
        let mediaType: MediaKind
        switch parameters.codec_type {
        case AVMEDIA_TYPE_VIDEO: mediaType = .video
        case AVMEDIA_TYPE_AUDIO: mediaType = .audio
        case AVMEDIA_TYPE_SUBTITLE: mediaType = .text
        default: return nil
        }
        let name = avcodec_get_name(parameters.codec_id).map { String(cString: $0) } ?? ""
        let tags = entries(of: stream.pointee.metadata)
        var track = MediaTrack(
            id: Int(stream.pointee.index) + 1, mediaType: mediaType,
            codec: CodecRegistry.codec(of: parameters.codec_id) ?? MediaCodec(rawValue: name), timescale: unit.den)
        if let data = parameters.extradata, parameters.extradata_size > 0 {
            let count = min(Int(parameters.extradata_size), maximumConfigurationByteCount)
            track.configuration = Array(UnsafeBufferPointer(start: data, count: count))
        }
        let language = tags.first { $0.name == "language" }?.value
        track.language = language == "und" ? nil : language
        track.label.name = MediaTrackLabel.name(tags.first { $0.name == "title" }?.value)
        func isSet(_ flag: Int32) -> Bool { stream.pointee.disposition & flag != 0 }
        track.label.isDefault = isSet(AV_DISPOSITION_DEFAULT)
        track.label.isForced = isSet(AV_DISPOSITION_FORCED)
        track.label.describesAudio = isSet(AV_DISPOSITION_HEARING_IMPAIRED)
        track.label.describesVideo = isSet(AV_DISPOSITION_VISUAL_IMPAIRED)
        if mediaType == .video {
            describeVideo(parameters, of: &track)
            describeSideData(of: stream, in: &track)
        }
        if mediaType == .audio {
            track.sampleRate = max(0, Int(parameters.sample_rate))
            track.channelCount = max(0, Int(parameters.ch_layout.nb_channels))
        }
        return (track, Int64(unit.num))
    }

    /// Whether a track has frames in another order than they are shown. AVI does not say when to show them.
    package func isReordered(trackAt index: Int) -> Bool { delays[index].presentation > 0 }

    // MARK: Reading

    /// The times of the key frames in the index of a track, in its units and in order. The index may be incomplete.
    package func keyTimes(ofTrackAt index: Int) -> [Int64] {
        guard let library = FormatLibrary.installed, streams.indices.contains(index),
            let stream = context?.pointee.streams?[streams[index]], let factor = places[streams[index]]?.factor
        else { return [] }
        // Matroska's index is read for the first seek.
        _ = seek(to: 0, ofTrackAt: index)
        let count = avformat_index_get_entries_count(stream)
        guard count <= Self.maximumIndexCount else { return [] }
        return (0..<count).compactMap { entry in
            let time = CLibAV_key_time(library, stream, entry)
            let (value, overflow) = time.multipliedReportingOverflow(by: factor)
            return time == CLibAV_no_pts() || overflow || value.magnitude >= 1 << 60 ? nil : value
        }.sorted()
    }

    /// Continues at or before a time in units of a track. Returns whether that was possible.
    package func seek(to time: Int64, ofTrackAt index: Int) -> Bool {
        guard streams.indices.contains(index), let factor = places[streams[index]]?.factor else { return false }
        nextTimes = nextTimes.map { _ in nil }
        return av_seek_frame(context, Int32(streams[index]), time / factor, AVSEEK_FLAG_BACKWARD) >= 0
    }

    /// Reads the next sample, or returns nil at the end of the file. Invalid data ends the file, too.
    package func next() throws(CodecError) -> Entry? {
        while true {
            packet.unwrap()
            let code = av_read_frame(context, packet.raw)
            if source.hasFailed { throw CodecError(call: "av_read_frame", code: CLibAV_error_errno(EIO)) }
            guard code >= 0 else { return nil }
            let stream = Int(packet.raw.pointee.stream_index)
            guard places.indices.contains(stream), let place = places[stream] else { continue }
            let size = Int(packet.raw.pointee.size)
            guard let data = packet.raw.pointee.data, size > 0,
                size
                    <= (tracks[place.index].mediaType == .text
                        ? Self.maximumTextByteCount : Self.maximumSampleByteCount)
            else { continue }
            let raw = packet.raw.pointee
            let limit = Int64(1) << 60
            func time(_ value: Int64) -> Int64? {
                let (scaled, overflow) = value.multipliedReportingOverflow(by: place.factor)
                return value == CLibAV_no_pts() || overflow || scaled.magnitude >= limit ? nil : scaled
            }
            let presentation = time(raw.pts)
            let duration = max(0, min(time(raw.duration) ?? 0, limit))
            // Matroska has no decoding times, and libavformat knows them only some frames after a seek.
            let known = time(raw.dts) ?? (tracks[place.index].mediaType == .video ? nil : presentation)
            let estimate = nextTimes[place.index] ?? presentation.map { $0 - delays[place.index].presentation } ?? 0
            let decoding = known ?? min(estimate, presentation ?? estimate)
            nextTimes[place.index] = min(decoding + max(duration, delays[place.index].frame), limit)
            let sample = MediaSample(
                trackID: tracks[place.index].id, pts: presentation ?? decoding, dts: decoding, duration: duration,
                isSync: raw.flags & AV_PKT_FLAG_KEY != 0, isDamaged: raw.flags & AV_PKT_FLAG_CORRUPT != 0,
                data: SampleData(UnsafeBufferPointer(start: data, count: size)))
            return Entry(sample: sample, trackIndex: place.index)
        }
    }
}
