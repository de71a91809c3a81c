import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitTime

struct SampleDecoder {
    /// The number of different decoder errors that are reported per stream.
    private static let mostKindsOfDamage = 16

    private let renderer: TrackRenderer
    private(set) var track: MediaTrack?
    private(set) var decoder: TrackDecoder?
    private var parameterSets: [UInt8] = []
    private var isNew = true
    private var isUndecodable = false
    private var damage: Set<CodecError> = []
    var silence = DecoderSilence()
    /// Whether the decoder has produced no output and restarts at the next sync sample.
    var isStuck = false
    private(set) var effort = DecodingEffort()
    private var skippableFrames = SkippableFrames()

    init(_ renderer: TrackRenderer) { self.renderer = renderer }

    mutating func reset() {
        decoder = nil
        track = nil
        effort = DecodingEffort()
        skippableFrames = SkippableFrames()
        silence = DecoderSilence()
        isStuck = false
    }

    mutating func begin(_ track: MediaTrack, parameterSets: [UInt8]) {
        self.track = track
        self.parameterSets = parameterSets
        decoder = nil
        isUndecodable = false
        isStuck = false
        silence.interrupt()
    }

    mutating func open(_ mode: TrackRenderer.Mode) {
        guard let track, let threadCount = mode.decodingThreadCount, !isUndecodable else { return }
        do {
            decoder = try renderer.makeDecoder(track, threadCount)
            isNew = true
        } catch {
            isUndecodable = true
            let cause = "\(track.codec.rawValue) cannot be decoded"
            renderer.report(
                .failed(HLSError(code: .badMedia, cause: cause, detail: "\(error)", underlyingError: error)))
        }
    }

    mutating func close() { decoder = nil }

    mutating func restart(_ mode: TrackRenderer.Mode) {
        decoder = nil
        skippableFrames = SkippableFrames()
        silence.interrupt()
        open(mode)
    }

    mutating func prepare(_ sample: MediaSample) -> MediaSample {
        guard isNew else { return sample }
        isNew = false
        return completed(sample)
    }

    /// Adds the parameter sets to a decoder's or an output's first sample if the sample does not contain them.
    func completed(_ sample: MediaSample) -> MediaSample {
        guard !parameterSets.isEmpty, let track, PictureParameterSets.areMissing(in: sample, of: track) else {
            return sample
        }
        return PictureParameterSets.prepend(parameterSets, to: sample)
    }

    mutating func drain() -> (frames: [VideoFrame], buffers: [AudioBuffer])? {
        var frames: [VideoFrame] = []
        var buffers: [AudioBuffer] = []
        do {
            switch decoder {
            case .video(let decoder): try decoder.drain(to: &frames)
            case .audio(let decoder): try decoder.drain(to: &buffers)
            case nil: return nil
            }
        } catch {
            note(error)
        }
        if !frames.isEmpty || !buffers.isEmpty { silence.end() }
        return (frames, buffers)
    }

    /// Counts a damaged sample. The first error of each kind is also reported with its text.
    mutating func note(_ error: CodecError) {
        renderer.count { $0.damagedSamples += 1 }
        guard damage.count < Self.mostKindsOfDamage, damage.insert(error).inserted else { return }
        renderer.report(.damaged("\(track?.codec.rawValue ?? renderer.mediaType.rawValue): \(error)"))
    }

    // MARK: Silence

    /// Called when the sample with the decoding time `time` produced no output.
    ///
    /// - Returns: Whether the silence was reported now.
    mutating func continuesSilently(at time: Duration) -> Bool {
        switch silence.continues(at: time) {
        case .nudge: isStuck = true
        case .report:
            renderer.report(.silent(silenceError, isAll: false))
            return true
        case nil: break
        }
        return false
    }

    /// Reports at the end that the decoder has never produced output.
    func reportSilenceOfAll() {
        if silence.isOfAll { renderer.report(.silent(silenceError, isAll: true)) }
    }

    func reportRestart() {
        renderer.report(.damaged("\(silenceError.cause) (\(silenceError.detail ?? "")): the decoder was restarted"))
    }

    private var silenceError: HLSError {
        let kind = track?.mediaType == .audio ? "audio" : "video"
        let start = ((silence.start ?? .zero).seconds * 1000).rounded() / 1000
        return HLSError(
            code: .badMedia, cause: "no \(kind) can be decoded",
            detail: "\(track?.codec.rawValue ?? "media") from \(start) s on")
    }

    // MARK: Lateness

    mutating func step(for sample: MediaSample, lateness: Duration) -> DecodingEffort.Step {
        let step = effort.step(isSync: sample.isSync, lateness: lateness)
        if step == .decodeReferences { skippableFrames.add(sample.pts) }
        return step
    }

    mutating func takeSkippedCount(upTo pts: Int64) -> Int { skippableFrames.takeSkipped(upTo: pts) }

    mutating func forgetSkippableFrames() { skippableFrames = SkippableFrames() }
}
