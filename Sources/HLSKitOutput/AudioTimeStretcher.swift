import HLSKitCodec

final class AudioTimeStretcher {
    private enum Method {
        case tempo(TempoFilter)
        case varispeed(Varispeed)
        case silence
    }

    let rate: Double
    let algorithm: AudioTimePitchAlgorithm
    private let method: Method
    private let channelCount: Int
    private let trailingFrameCount: Int
    private var inputFrameCount = 0
    private var silentFrameCount = 0
    private var ready: [Float] = []
    private var isFinished = false

    /// Falls back to resampling if the pitch cannot be kept.
    init(rate: Double, algorithm: AudioTimePitchAlgorithm, sampleRate: Int, channelCount: Int) {
        self.rate = rate
        self.algorithm = algorithm
        self.channelCount = channelCount
        trailingFrameCount = sampleRate / 10
        func varispeed() -> Method {
            (try? Varispeed(rate: rate, sampleRate: sampleRate, channelCount: channelCount)).map(Method.varispeed)
                ?? .silence
        }
        method =
            switch algorithm {
            case .timeDomain:
                (try? TempoFilter(tempo: rate, sampleRate: sampleRate, channelCount: channelCount)).map(Method.tempo)
                    ?? varispeed()
            case .varispeed: varispeed()
            case .muted: .silence
            }
    }

    func append(_ samples: ArraySlice<Float>) {
        inputFrameCount += samples.count / channelCount
        switch method {
        case .tempo(let filter): try? filter.process(samples, into: &ready)
        case .varispeed(let resampler): try? resampler.process(samples, into: &ready)
        case .silence:
            let count = Int(Double(inputFrameCount) / rate) - silentFrameCount
            silentFrameCount += count
            ready += repeatElement(0, count: count * channelCount)
        }
    }

    func finish() {
        guard !isFinished else { return }
        isFinished = true
        switch method {
        case .tempo(let filter):
            // The filter drops its last piece unless more input follows. Any excess output is not taken.
            try? filter.process(Array(repeating: 0, count: trailingFrameCount * channelCount)[...], into: &ready)
            try? filter.finish(into: &ready)
        case .varispeed(let resampler): try? resampler.finish(into: &ready)
        case .silence: break
        }
    }

    /// Takes at most `frameCount` samples per channel, interleaved.
    func take(_ frameCount: Int) -> [Float] {
        let count = min(max(0, frameCount) * channelCount, ready.count)
        let taken = Array(ready[..<count])
        ready.removeFirst(count)
        return taken
    }
}
