import Glibc
import HLSKitAsset
import HLSKitCodec
package import HLSKitLoading
package import HLSKitMedia
package import HLSKitTime
import Synchronization

/// Writes samples into a container without decoding: `ts`, `mp4`, `mkv` or, for audio alone, `aac`, `mp3`.
///
/// If the codec or size of a track changes, a transport stream continues with a discontinuity and new tables. Frames of
/// AAC or MP3 describe themselves, so these formats also continue. The other containers cannot hold the change. They
/// continue in `NAME.2.mp4`, which begins at 0, and a note reports it. If the output is a pipe, media is dropped until
/// the track returns to its earlier format, and a note reports that.
///
/// An incomplete MP4 file is a sequence of fragments. If the process ends early, the file can be played up to that
/// point.
package final class Remuxer: SampleWriter, NumberedFiles, TrackAwaitingWriter {
    private struct State: ~Copyable {
        var file: OutputFile
        let failure = Failure()
        var paths: [String]
        var finished: [String] = []
        /// The current tracks of a pipe after a change, and the stream of each. A track that does not fit has no
        /// stream.
        var current: [MediaTrack]?
        var places: [Int?]?
        /// The time to subtract from item times: the start of the current file, if it is not the first.
        var origin = MediaTime.zero
        var setsOrigin = false
        var tracks: [MediaTrack] = []
        /// The latest tracks, which differ from ``tracks`` while a change waits for its position.
        var latest: [MediaTrack] = []
        var splice = TrackSplice()
        var texts = MovieTexts()
        /// The last decoding time of each track in the muxer that was closed.
        var lastTimes: [Int64?] = []
        var audio = WrittenAudio()
        var muxer: Muxer?
        var metadata = FileMetadata()
        var lateChapters: FileMetadata?
        /// The end of the last sample, from the start of the file.
        var end = MediaTime.zero
        var frontIndex: FrontIndex?
        /// The muxer's stream of each track, or `nil` for a track whose parameters remained unknown.
        var streams: [Int?] = []
        /// The tracks that had media but whose parameters remained unknown.
        var omitted: Set<Int> = []
        var firstFrames = FirstFrames()
        var continuesFile = false
        var sizes = FrameSizes()
        /// The samples that arrived before the container's header could be written.
        var waiting: [TrackSplice.Entry] = []
        var wait = HeaderWait()
        var hasSamples = false
        var isEmpty = true
        var isContinued = false
        var tables = TransportTables()
    }

    /// The error of the file, which libavformat does not pass on.
    private final class Failure {
        var error: HLSError?

        func catching(_ body: () throws(HLSError) -> Void) -> Bool {
            do throws(HLSError) {
                try body()
                return true
            } catch {
                self.error = self.error ?? error
                return false
            }
        }
    }

    private let container: Container
    private let isFragmented: Bool
    private let indexByteCount: Int64
    private let mayBeginFiles: Bool
    private let note: WriterNote
    private let state: Mutex<State>
    private let awaited = Mutex<Set<MediaKind>>([])
    /// Samples that other threads have added while one thread writes.
    private let brought = TurnQueue<TrackSplice.Entry>(maximumCount: 256)

    /// - Parameters:
    ///   - file: The file, which is committed when it is complete.
    ///   - isFragmented: Whether to write MP4 in fragments, so that an incomplete file can be played. Otherwise the
    ///     file has one index, which makes seeking fast, but the file is useless without its end.
    ///   - indexByteCount: The space for that index at the start of the file. If it is too small, the index is at the
    ///     end.
    ///   - note: Receives a text when another file is begun.
    package init(
        file: consuming sending OutputFile, container: Container, isFragmented: Bool = true,
        indexByteCount: Int64 = 0, mediaTypes: Set<MediaKind> = [.video, .audio], note: @escaping WriterNote = { _ in }
    ) {
        self.container = container
        self.isFragmented = isFragmented
        self.indexByteCount = indexByteCount
        self.mediaTypes = mediaTypes
        mayBeginFiles = file.partPath != nil
        self.note = note
        state = Mutex(State(file: file, paths: [file.path]))
    }

    package var paths: [String] { state.withLock { $0.paths } }
    package var finishedPaths: [String] { state.withLock { $0.finished } }

    package let mediaTypes: Set<MediaKind>
    package var isEmpty: Bool { state.withLock { $0.isEmpty } }
    package var lacksVideo: Bool { state.withLock { $0.paths.count == 1 && $0.firstFrames.lacksSync } }
    package var holdsTrackChanges: Bool { container.joinsChanges || mayBeginFiles }
    package var isReadAsWritten: Bool { !mayBeginFiles }

    /// Sets the metadata to write to the files, if the container can hold it. Call it before the first sample.
    ///
    /// - Parameter metadata: The metadata. Times of its chapters are item times.
    package func describe(_ metadata: FileMetadata) {
        if container == .mp4 || container == .mkv { state.withLock { $0.metadata = metadata } }
    }

    /// Called if frames at the start of the file may depend on frames in an earlier file.
    package func continueFile() { state.withLock { $0.continuesFile = true } }

    package func awaitTracks(of types: Set<MediaKind>) { awaited.withLock { $0 = types.intersection(mediaTypes) } }

    package func begin(_ tracks: [MediaTrack]) throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            try writeBrought(&state)
            if let track = tracks.first(where: { !container.holds($0.codec) }) {
                let other = container.holdsAudioOnly ? "; .m4a and .mka can" : ""
                throw unsupported("\(container) cannot hold \(track.codec.rawValue)\(other)", state.file)
            }
            let (types, known) = (tracks.map(\.mediaType), state.latest.map(\.mediaType))
            guard types.starts(with: known), types == known || canGrow(to: types, state) else {
                return try change(to: tracks, &state)
            }
            for (index, track) in tracks.enumerated() {
                guard index < known.count else {
                    state.latest.append(track)
                    if state.muxer == nil { state.tracks.append(track) } else { state.splice.change(index, to: track) }
                    continue
                }
                let (old, isWaiting) = (state.latest[index], state.splice.hasChange(of: index))
                let isSame = container.isSameStream(track, old, hasHeader: state.muxer != nil && !isWaiting)
                state.latest[index] = isSame ? track.completed(by: old) : track
                if isSame, isWaiting {
                    state.splice.complete(index, with: state.latest[index])
                } else if !state.tracks.indices.contains(index) {
                    state.splice.change(index, to: state.latest[index])
                } else if isSame {
                    state.tracks[index] = track.completed(by: state.tracks[index])
                } else if state.muxer == nil, state.waiting.isEmpty, !state.splice.isPending {
                    state.tracks[index] = track
                } else {
                    state.splice.change(index, to: track)
                }
            }
        }
    }

    package func write(
        _ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime
    ) throws(HLSError) {
        guard brought.add(TrackSplice.Entry(sample: sample, index: index, itemTime: itemTime)) else { return }
        try state.withLock { state throws(HLSError) in try writeBrought(&state) }
    }

    private func writeBrought(_ state: inout State) throws(HLSError) {
        while true {
            let entries = brought.takeAll()
            if entries.isEmpty { return }
            do throws(HLSError) {
                for entry in entries { try take(entry, &state) }
            } catch {
                brought.release()
                throw error
            }
        }
    }

    private func take(_ entry: TrackSplice.Entry, _ state: inout State) throws(HLSError) {
        let (index, itemTime) = (entry.index, entry.itemTime)
        guard state.latest.indices.contains(index) else { return }
        guard container == .mp4 else { return try place(entry, &state) }
        guard state.latest[index].mediaType == .text else {
            let time = itemTime - MovieTexts.patience
            for text in state.texts.settle(before: time, state.latest) { try place(text, &state) }
            return try place(entry, &state)
        }
        for text in state.texts.add(entry, state.latest) { try place(text, &state) }
    }

    private func finishTexts(_ state: inout State) throws(HLSError) {
        for text in state.texts.finish(state.latest) { try place(text, &state) }
    }

    private func place(_ entry: TrackSplice.Entry, _ state: inout State) throws(HLSError) {
        noteSize(of: entry, &state)
        guard state.splice.isPending || !container.joinsChanges else { return try write(entry, &state) }
        state.splice.add(entry)
        try writeSpliced(&state)
    }

    /// Notes a new frame size that only the samples declare. Containers with parameter sets in their header cannot
    /// continue with it.
    private func noteSize(of entry: TrackSplice.Entry, _ state: inout State) {
        guard !container.joinsChanges, let track = state.latest[safe: entry.index],
            let described = state.sizes.change(by: entry.sample, ofTrackAt: entry.index, track)
        else { return }
        state.latest[entry.index] = described
        // A size that was unknown is not a change.
        if track.width > 0 { state.splice.change(entry.index, to: described) }
    }

    private func writeSpliced(_ state: inout State) throws(HLSError) {
        let outputs = state.splice.take(state.latest.map(\.mediaType))
        for (index, output) in outputs.enumerated() {
            switch output {
            case .sample(let entry): try write(entry, &state)
            case .change(let changed):
                var tracks = state.tracks
                for (index, track) in changed.sorted(by: { $0.key < $1.key }) {
                    if index < tracks.count { tracks[index] = track } else { tracks.append(track) }
                }
                guard try mayBeginPart(&state) else {
                    fit(changed, &state)
                    continue
                }
                try beginPart(tracks, &state)
                setOrigin(by: outputs[(index + 1)...], &state)
            }
        }
    }

    /// Sets the origin of a file after the first: the earliest of the waiting samples.
    private func setOrigin(by outputs: ArraySlice<TrackSplice.Output>, _ state: inout State) {
        guard state.setsOrigin else { return }
        var first: MediaTime?
        for output in outputs {
            guard case .sample(let entry) = output else { break }
            first = min(first ?? entry.itemTime, entry.itemTime)
        }
        guard let first else { return }
        state.origin = first
        state.setsOrigin = false
    }

    private func write(_ entry: TrackSplice.Entry, _ state: inout State) throws(HLSError) {
        var entry = entry
        if let places = state.places {
            guard let place = places[safe: entry.index] ?? nil else { return }
            entry.index = place
        }
        guard state.tracks.indices.contains(entry.index), begins(with: entry, &state) else { return }
        guard state.muxer == nil else { return try mux(entry, &state) }
        try learnConfiguration(from: entry.sample, at: entry.index, &state)
        state.waiting.append(entry)
        state.wait.add(entry)
        // A file after the first begins with the tracks that were there before it.
        let awaited = container.joinsChanges || state.isContinued ? [] : awaited.withLock(\.self)
        let absent = awaited.subtracting(state.tracks.map(\.mediaType))
        if state.wait.isOver(isComplete: state.tracks.allSatisfy(container.isComplete), absent: absent) {
            try openMuxer(&state)
        }
    }

    /// Whether a frame can be decoded. If the container does not mark sync frames, frames before the first sync frame
    /// are dropped.
    private func begins(with entry: TrackSplice.Entry, _ state: inout State) -> Bool {
        guard !container.joinsChanges, let track = state.latest[safe: entry.index], track.mediaType == .video else {
            return true
        }
        let (isKept, droppedCount) = state.firstFrames.take(
            entry, of: track, awaitsSync: track.isDescribedBySamples,
            dropsLeading: !state.continuesFile && state.paths.count == 1)
        if droppedCount > 0 {
            note(
                "video begins with its first sync frame, at \(seconds(entry.itemTime)) s: \(droppedCount) frames before "
                    + "it are omitted")
        }
        return isKept
    }

    private func seconds(_ time: MediaTime) -> String {
        (time.duration ?? .zero).decimalText(3, atLeast: 3)
    }

    /// Whether late tracks are added at a sync frame. A transport stream adds them at once. So does text, whose start
    /// cannot be predicted.
    private func canGrow(to types: [MediaKind], _ state: borrowing State) -> Bool {
        container != .ts && !state.latest.isEmpty
            && (state.muxer != nil || !state.waiting.isEmpty || state.splice.isPending)
            && !types[state.latest.count...].contains(.text)
    }

    private func change(to tracks: [MediaTrack], _ state: inout State) throws(HLSError) {
        try finishTexts(&state)
        try finishSplice(&state)
        guard try mayBeginPart(&state) else {
            state.latest = tracks
            return fit(tracks, &state)
        }
        if state.muxer == nil, state.waiting.isEmpty { state.tracks = tracks } else { try beginPart(tracks, &state) }
        state.latest = tracks
    }

    /// Whether tracks may still change. The result is `false` if the output has begun and cannot hold other tracks.
    private func mayBeginPart(_ state: inout State) throws(HLSError) -> Bool {
        if holdsTrackChanges { return true }
        if !state.waiting.isEmpty { try openMuxer(&state) }
        return !state.isContinued
    }

    private func fit(_ changed: [Int: MediaTrack], _ state: inout State) {
        var tracks = state.current ?? state.tracks
        for (index, track) in changed.sorted(by: { $0.key < $1.key }) {
            if index < tracks.count { tracks[index] = track } else { tracks.append(track) }
        }
        fit(tracks, &state)
    }

    private func fit(_ tracks: [MediaTrack], _ state: inout State) {
        let places = tracks.map { track in
            state.tracks.firstIndex {
                $0.mediaType == track.mediaType && container.isSameStream(track, $0, hasHeader: true)
            }
        }
        for (track, place) in zip(tracks, places) {
            let old = state.current?.firstIndex { $0.mediaType == track.mediaType }
            let wasWritten = old.map { (state.places?[$0] ?? nil) != nil } ?? true
            guard wasWritten != (place != nil) else { continue }
            let kind = track.mediaType.rawValue
            note(
                place == nil
                    ? "\(container) on a pipe cannot hold tracks that change: \(kind) is skipped from here on"
                    : "\(kind) matches again: it is written again")
        }
        state.current = tracks
        state.places = places
    }

    private func finishSplice(_ state: inout State) throws(HLSError) {
        state.splice.finish()
        try writeSpliced(&state)
        state.splice = TrackSplice()
    }

    private func beginPart(_ tracks: [MediaTrack], _ state: inout State) throws(HLSError) {
        if !state.waiting.isEmpty { try openMuxer(&state) }
        try closeMuxer(&state)
        if !container.joinsChanges { try beginNextFile(&state) }
        state.tracks = tracks
    }

    package func flush() throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            try writeBrought(&state)
            state.muxer?.flush()
            if let error = state.failure.error { throw error }
            try state.file.flush()
        }
    }

    /// The current file and its size. Everything written later follows that position or changes data before it.
    package var place: (path: String, byteCount: Int64) { state.withLock { ($0.file.path, $0.file.byteCount) } }

    /// Passes the muxed data on to the system, without making the muxer write its buffered samples.
    package func handOver() throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            state.muxer?.flush()
            if let error = state.failure.error { throw error }
            try state.file.flush()
        }
    }

    package func finish() throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            do throws(HLSError) {
                try writeBrought(&state)
                try finishTexts(&state)
                try finishSplice(&state)
                if !state.waiting.isEmpty || state.muxer == nil && state.firstFrames.lacksSync {
                    try openMuxer(&state)
                }
                for (index, count) in state.firstFrames.undecodableCounts.sorted(by: { $0.key < $1.key }) {
                    let kind = state.tracks[safe: index]?.mediaType.rawValue ?? "media"
                    note("\(kind) is omitted: each of its \(count) frames depends on an earlier one")
                }
                try closeMuxer(&state)
            } catch {
                throw state.file.named(error)
            }
            try finishFile(&state)
        }
    }

    private func finishFile(_ state: inout State) throws(HLSError) {
        try state.file.finish(keeping: state.hasSamples)
        if state.hasSamples, let path = state.paths.last { state.finished.append(path) }
        state.hasSamples = false
    }

    // MARK: - Further files

    private func beginNextFile(_ state: inout State) throws(HLSError) {
        guard state.file.partPath != nil, let first = state.paths.first else {
            throw unsupported("\(container) cannot hold tracks that change", state.file)
        }
        let replaces = state.file.replacesFile
        do throws(HLSError) {
            try finishFile(&state)
        } catch {
            throw state.file.named(error)
        }
        var number = state.paths.count + 1
        var path = Self.numbered(first, number)
        // If the name is taken, try the next number so that the media is not lost.
        while !replaces, access(path, F_OK) == 0 {
            number += 1
            path = Self.numbered(first, number)
        }
        note("\(container) cannot hold tracks that change: continuing in \(path)")
        state.file = try OutputFile(path: path, overwrite: replaces)
        if let kept = state.file.keptPath { note(OutputFormat.leftoverNote(kept)) }
        state.paths.append(path)
        state.audio = WrittenAudio()
        state.firstFrames.beginFile()
        state.end = .zero
        state.setsOrigin = true
    }

    // MARK: - Muxer

    private func openMuxer(_ state: inout State) throws(HLSError) {
        let (file, failure) = (state.file, state.failure)
        let isSeekable = file.isSeekable && !writesFragments(to: file) && !container.holdsAudioOnly
        let front = container == .mp4 && isSeekable ? FrontIndex(file, room: indexByteCount) : nil
        state.frontIndex = front
        let sink = Muxer.Sink(
            write: { bytes in
                failure.catching { () throws(HLSError) in
                    if let front { try front.write(bytes) } else { try file.write(bytes) }
                }
            },
            seek: !isSeekable
                ? nil
                : { offset in
                    failure.catching { () throws(HLSError) in
                        if let front { try front.seek(to: offset) } else { try file.seek(to: offset) }
                    }
                })
        var options: [String: String] = front?.options ?? [:]
        if container == .mp4 {
            // Edit lists need a header that is written with the first fragment (delay_moov).
            options["movflags"] =
                !file.isSeekable
                ? "frag_keyframe+empty_moov+delay_moov+default_base_moof"
                : isFragmented ? "frag_keyframe+empty_moov+delay_moov+default_base_moof" : nil
            // Without video, fragments need a duration.
            if !state.tracks.contains(where: { $0.mediaType == .video }) { options["frag_duration"] = "2000000" }
            if options["movflags"] == nil { options["frag_duration"] = nil }
        }
        if container == .mp3 {
            // Write plain frames, so that a later part can be appended.
            options = ["write_xing": "0", "id3v2_version": "0", "write_id3v1": "0"]
        }
        if container == .ts, state.isContinued { options["mpegts_flags"] = "+initial_discontinuity" }
        let tracks = state.tracks.filter(container.isComplete)
        guard !tracks.isEmpty else { throw unsupported("no sample has the parameters of its track", state.file) }
        var streamCount = 0
        state.streams = state.tracks.map { track in
            guard container.isComplete(track) else { return nil }
            streamCount += 1
            return streamCount - 1
        }
        var pids: [Int] = []
        if container == .ts {
            options["tables_version"] = state.tables.nextVersion()
            pids = state.tables.pids(of: tracks)
        }
        let origin = state.setsOrigin ? state.waiting.map(\.itemTime).min() : state.origin
        var metadata = state.metadata.part(from: origin?.duration ?? .zero)
        if isSeekable {
            state.lateChapters = metadata
            metadata = metadata.withoutChapters
        }
        state.muxer = try converting(state) { () throws(CodecError) in
            try Muxer(
                format: container.muxerName, tracks: tracks, streamIDs: pids, options: options, metadata: metadata,
                sink: sink)
        }
        for (index, stream) in state.streams.enumerated() where container == .ts {
            guard let stream, let time = state.lastTimes[safe: index] else { continue }
            state.muxer?.continueStream(at: stream, after: time)
        }
        state.isContinued = true
        if container != .mp4, let track = state.tracks.first(where: { $0.rotation != 0 }) {
            note("\(container) cannot store rotation: frames are off by \(track.rotation)°")
        }
        let waiting = state.waiting
        (state.waiting, state.wait) = ([], HeaderWait())
        for entry in waiting { try mux(entry, &state) }
    }

    private func writesFragments(to file: OutputFile) -> Bool {
        container == .mp4 && (isFragmented || !file.isSeekable)
    }

    private func closeMuxer(_ state: inout State) throws(HLSError) {
        guard let muxer = state.muxer else { return }
        state.muxer = nil
        let front = state.frontIndex
        state.frontIndex = nil
        if let metadata = state.lateChapters.take() {
            muxer.add(metadata.part(from: .zero, to: state.end.duration).chapters)
        }
        do throws(HLSError) {
            try converting(state) { () throws(CodecError) in try muxer.finish() }
        } catch {
            // The muxer fails if the index is larger than its space, but the index is complete.
            guard front?.isComplete == true, state.failure.error == nil, muxer.hasOnlyTrailerFailed else { throw error }
        }
        try front?.finish { muxer.complete(header: &$0) }
        state.lastTimes = state.streams.map { stream in stream.flatMap { muxer.lastDTS[$0] } }
    }

    private func mux(_ entry: TrackSplice.Entry, _ state: inout State) throws(HLSError) {
        let (sample, index) = (entry.sample, entry.index)
        guard let muxer = state.muxer else { return }
        guard let stream = state.streams[index] else {
            if state.omitted.insert(index).inserted {
                note("\(state.tracks[index].mediaType.rawValue) is omitted: its parameters are unknown")
            }
            return
        }
        let timescale = state.tracks[index].timescale
        if state.tracks[index].mediaType == .audio, state.audio.holds(entry, timescale) { return }
        if state.setsOrigin {
            state.origin = entry.itemTime
            state.setsOrigin = false
        }
        let itemTime = state.origin == .zero ? entry.itemTime : entry.itemTime - state.origin
        let presentation = rescaled(itemTime.value, from: itemTime.timescale, to: timescale)
        let (delay, delayOverflow) = sample.pts.subtractingReportingOverflow(sample.dts)
        let (decoding, overflow) = presentation.subtractingReportingOverflow(delayOverflow ? 0 : delay)
        let timing = Muxer.Timing(
            presentation: presentation, decoding: overflow ? presentation : decoding, duration: sample.duration,
            timescale: timescale)
        try converting(state) { () throws(CodecError) in
            try muxer.write(sample, streamAt: stream, timing: timing)
        }
        let end = itemTime + MediaTime(value: max(0, sample.duration), timescale: timescale)
        if end.isNumeric { state.end = max(state.end, end) }
        state.hasSamples = true
        state.isEmpty = false
    }

    private func converting<Result>(
        _ state: borrowing State, _ body: () throws(CodecError) -> Result
    ) throws(HLSError) -> Result {
        let result: Result
        do throws(CodecError) {
            result = try body()
        } catch {
            throw state.failure.error ?? HLSError(error, path: state.file.path)
        }
        // libavformat buffers data and may notice the error later.
        if let error = state.failure.error { throw error }
        return result
    }

    // MARK: - Tracks

    private func learnConfiguration(
        from sample: MediaSample, at index: Int, _ state: inout State
    ) throws(HLSError) {
        let track = state.tracks[index]
        guard sample.isSync, container.needsConfiguration(track) else { return }
        let sets = try converting(state) { () throws(CodecError) in
            try ParameterSets.extract(from: sample, of: track)
        }
        guard let sets else { return }
        state.tracks[index].configuration = sets
        guard track.width == 0, let described = track.described(by: sets) else { return }
        (state.tracks[index].width, state.tracks[index].height) = (described.width, described.height)
    }

    private func unsupported(_ text: String, _ file: OutputFile) -> HLSError {
        HLSError(code: .unsupported, path: file.path, text: text)
    }
}
