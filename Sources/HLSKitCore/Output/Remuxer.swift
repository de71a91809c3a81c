public import HLSMedia
public import HLSTime
import Synchronization

/// Writes samples into a container without decoding them: `-f ts`, `-f mp4`, `-f mkv`.
///
/// Where the tracks change, a transport stream goes on with new tables behind a discontinuity; the other containers
/// cannot hold that, and ``begin(_:)`` throws.
public final class Remuxer: MediaWriter {
    /// The containers that can be written.
    public enum Container: Sendable, Hashable {
        case ts, mp4, mkv
    }

    private struct State: ~Copyable {
        let file: OutputFile
        let failure = Failure()
        var tracks: [MediaTrack] = []
        var muxer: Muxer?
        /// Samples that came before the parameter sets which the container's header needs.
        var waiting: [WaitingSample] = []
        var hasSamples = false
        /// A muxer has written to the file already.
        var isContinued = false
    }

    private struct WaitingSample {
        let sample: MediaSample
        let index: Int
        let itemTime: MediaTime
    }

    /// The error of the file, behind libavformat's back.
    private final class Failure {
        var error: OutputError?

        /// Whether `body` went well; keeps its error otherwise.
        func catching(_ body: () throws(OutputError) -> Void) -> Bool {
            do throws(OutputError) {
                try body()
                return true
            } catch {
                self.error = self.error ?? error
                return false
            }
        }
    }

    /// Samples without a sync sample among them after which a container's header is given up.
    private static let maximumWaitingSamples = 2000

    private let container: Container
    private let state: Mutex<State>

    public init(file: consuming sending OutputFile, container: Container) {
        self.container = container
        state = Mutex(State(file: file))
    }

    public var takesSamples: Bool { true }
    public var mediaTypes: Set<MediaType> { [.video, .audio] }

    public func begin(_ tracks: [MediaTrack]) throws(OutputError) {
        try state.withLock { state throws(OutputError) in
            if let track = tracks.first(where: { !container.holds($0.codec) }) {
                throw unsupported("\(container) cannot hold \(track.codec.rawValue)", state.file)
            }
            let isSame = tracks.count == state.tracks.count && zip(tracks, state.tracks).allSatisfy(Self.isSameStream)
            if isSame {
                // Timescales and numbers may differ from segment to segment; the stream goes on.
                for index in tracks.indices { state.tracks[index].timescale = tracks[index].timescale }
                return
            }
            if state.muxer != nil || !state.waiting.isEmpty {
                guard container == .ts else {
                    throw unsupported("\(container) cannot hold tracks that change", state.file)
                }
                try closeMuxer(&state)
            }
            state.tracks = tracks
        }
    }

    public func write(
        _ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime
    ) throws(OutputError) {
        try state.withLock { state throws(OutputError) in
            guard state.tracks.indices.contains(index) else { return }
            if state.muxer == nil {
                try learnConfiguration(from: sample, at: index, &state)
                state.waiting.append(WaitingSample(sample: sample, index: index, itemTime: itemTime))
                guard state.tracks.allSatisfy({ !needsConfiguration($0) }) else {
                    guard state.waiting.count < Self.maximumWaitingSamples else {
                        throw unsupported("no parameter sets in the first samples", state.file)
                    }
                    return
                }
                try openMuxer(&state)
                return
            }
            try mux(sample, at: index, itemTime, &state)
        }
    }

    public func finish() throws(OutputError) {
        try state.withLock { state throws(OutputError) in
            if state.muxer == nil, !state.waiting.isEmpty {
                throw state.file.named(unsupported("no parameter sets in any sample", state.file))
            }
            do throws(OutputError) { try closeMuxer(&state) } catch { throw state.file.named(error) }
            try state.file.finish(keeping: state.hasSamples)
        }
    }

    // MARK: - Muxer

    private func openMuxer(_ state: inout State) throws(OutputError) {
        let (file, failure) = (state.file, state.failure)
        let sink = Muxer.Sink(
            write: { bytes in failure.catching { () throws(OutputError) in try file.write(bytes) } },
            seek: file.isSeekable
                ? { offset in failure.catching { () throws(OutputError) in try file.seek(to: offset) } } : nil)
        var options: [String: String] = [:]
        if container == .mp4, !file.isSeekable { options["movflags"] = "frag_keyframe+empty_moov+default_base_moof" }
        if container == .ts, state.isContinued { options["mpegts_flags"] = "+initial_discontinuity" }
        let tracks = state.tracks
        state.muxer = try converting(state) { () throws(CodecError) in
            try Muxer(format: container.muxerName, tracks: tracks, options: options, sink: sink)
        }
        state.isContinued = true
        let waiting = state.waiting
        state.waiting = []
        for entry in waiting { try mux(entry.sample, at: entry.index, entry.itemTime, &state) }
    }

    private func closeMuxer(_ state: inout State) throws(OutputError) {
        guard let muxer = state.muxer else { return }
        state.muxer = nil
        try converting(state) { () throws(CodecError) in try muxer.finish() }
    }

    private func mux(
        _ sample: MediaSample, at index: Int, _ itemTime: MediaTime, _ state: inout State
    ) throws(OutputError) {
        guard let muxer = state.muxer else { return }
        let timescale = state.tracks[index].timescale
        let presentation = rescaled(itemTime.value, from: itemTime.timescale, to: timescale)
        let (delay, delayOverflow) = sample.pts.subtractingReportingOverflow(sample.dts)
        let (decoding, overflow) = presentation.subtractingReportingOverflow(delayOverflow ? 0 : delay)
        let timing = Muxer.Timing(
            presentation: presentation, decoding: overflow ? presentation : decoding, duration: sample.duration,
            timescale: timescale)
        try converting(state) { () throws(CodecError) in
            try muxer.write(sample, streamAt: index, timing: timing)
        }
        state.hasSamples = true
    }

    /// Runs a call of libavformat; where the file was at fault, its error is the one that counts.
    private func converting<Result>(
        _ state: borrowing State, _ body: () throws(CodecError) -> Result
    ) throws(OutputError) -> Result {
        let result: Result
        do throws(CodecError) {
            result = try body()
        } catch {
            throw state.failure.error ?? OutputError(error, path: state.file.path)
        }
        // libavformat buffers, and may notice only later.
        if let error = state.failure.error { throw error }
        return result
    }

    // MARK: - Tracks

    /// Containers that describe their tracks at the front need parameter sets that a transport stream has in band.
    private func needsConfiguration(_ track: MediaTrack) -> Bool {
        container != .ts && track.configuration.isEmpty && (track.codec == .h264 || track.codec == .hevc)
    }

    private func learnConfiguration(
        from sample: MediaSample, at index: Int, _ state: inout State
    ) throws(OutputError) {
        let track = state.tracks[index]
        guard sample.isSync, needsConfiguration(track) else { return }
        let sets = try converting(state) { () throws(CodecError) in
            try ParameterSets.extract(from: sample, of: track)
        }
        if let sets { state.tracks[index].configuration = sets }
    }

    private static func isSameStream(_ new: MediaTrack, _ old: MediaTrack) -> Bool {
        // A configuration that was learnt from the samples is still the in-band one of the new track.
        new.codec == old.codec && new.sampleRate == old.sampleRate && new.channelCount == old.channelCount
            && (new.configuration == old.configuration || new.configuration.isEmpty)
    }

    private func unsupported(_ text: String, _ file: OutputFile) -> OutputError {
        OutputError(code: .unsupported, path: file.path, text: text)
    }
}

extension Remuxer.Container {
    fileprivate var muxerName: String {
        switch self {
        case .ts: "mpegts"
        case .mp4: "mp4"
        case .mkv: "matroska"
        }
    }

    fileprivate func holds(_ codec: MediaCodec) -> Bool {
        let everywhere: Set<MediaCodec> = [.h264, .hevc, .aac, .mp3, .ac3, .eac3, .opus]
        let further: Set<MediaCodec> =
            switch self {
            case .ts: [.aacLATM]
            case .mp4, .mkv: [.av1, .vp9, .flac, .alac]
            }
        return everywhere.contains(codec) || further.contains(codec)
    }
}
