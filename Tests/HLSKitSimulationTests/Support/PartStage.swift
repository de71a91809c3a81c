import HLSKitCore
import HLSKitSimulation
import Synchronization

/// Plays a low-latency stream in virtual time, and records requests and presented media.
struct PartStage {
    typealias Answer = @Sendable (SimulatedRequest, SimulatedResponse) -> SimulatedResponse

    var origin = LowLatencyOrigin()
    /// The age of the origin at the start.
    var age = Duration.zero
    var answer: Answer = { $1 }
    /// The number of the variant, or `nil` for the multivariant playlist.
    var variant: Int? = 1
    var limit = Duration.seconds(40)
    var bitsPerSecond = 20_000_000.0
    var latency = Duration.milliseconds(10)
    /// Whether an output presents the media. Without an output, nothing is decoded.
    var presents = true
    var acts: [(time: Duration, act: @Sendable (PlayerItem) -> Void)] = []

    func play(
        _ change: (inout PlayerConfiguration) -> Void = { _ in }, prefer: (PlayerItem) -> Void = { _ in }
    ) throws -> Session {
        let clock = VirtualClock()
        let trace = NetworkTrace(
            constant: LinkConditions(bitsPerSecond: bitsPerSecond, latency: latency))
        let visits = Visits()
        let presented = Presented()
        let (origin, age, answer, acts, presents) = (origin, age, answer, acts, presents)
        let transport = SimulatedTransport(over: trace, clock: clock) { request in
            var request = request
            request.time += age
            visits.append(request)
            return answer(request, origin.response(to: request))
        }
        let play = try VirtualPlay(
            variant.map { origin.url(ofVariant: $0) } ?? origin.url, clock: clock, transport: transport, limit: limit,
            change: { configuration in
                configuration.decodingThreadCount = 1
                change(&configuration)
            },
            prefer: { item in
                if presents { try? item.add(presented) }
                prefer(item)
                for (time, act) in acts {
                    Task(executorPreference: clock) {
                        try await clock.sleep(for: time)
                        act(item)
                    }
                }
            })
        return Session(play: play, visits: visits, presented: presented)
    }

    struct Session {
        var play: VirtualPlay
        var visits: Visits
        var presented: Presented

        func count(_ text: String) -> Int { play.log.lines.count { $0.contains(text) } }
        var stallCount: Int { count("stalled") }
        var lossCount: Int {
            count(" missed segments") + count(" skipped segments") + count("hole") + count("item failed")
        }
    }

    final class Presented: FrameReceiver, AudioReceiver {
        let binding = OutputBinding()
        private struct Media: Sendable {
            var frames: [Duration] = []
            var audio: [Range<Duration>] = []
        }
        private let state = Mutex(Media())

        var frames: [Duration] { state.withLock { $0.frames } }
        var audio: [Range<Duration>] { state.withLock { $0.audio } }

        func receive(_ frame: VideoFrame, at clock: OutputClock) {
            let time = frame.itemTime?.duration ?? .seconds(-1)
            state.withLock { $0.frames.append(time) }
        }

        func receive(_ buffer: AudioBuffer, at clock: OutputClock) {
            let time = buffer.itemTime?.duration ?? .seconds(-1)
            let end = time + .seconds(1) * buffer.frameCount / buffer.sampleRate
            state.withLock { $0.audio.append(time..<end) }
        }

        func flush(generation: Int) {}
        func finish(_ type: MediaKind, at clock: OutputClock) {}
        func end() {}

        /// The ranges between frames that are not a frame apart. A frame is a twelfth of 0.5 s.
        var breaks: [Range<Double>] {
            zip(frames, frames.dropFirst()).compactMap { one, other in
                (Duration.milliseconds(30)...(.milliseconds(55))).contains(other - one)
                    ? nil : min(one, other).seconds..<max(one, other).seconds
            }
        }

        var audioBreaks: [Range<Double>] {
            zip(audio, audio.dropFirst()).compactMap { one, other in
                (Duration.milliseconds(-1)...(.milliseconds(1))).contains(other.lowerBound - one.upperBound)
                    ? nil
                    : min(one.upperBound, other.lowerBound).seconds..<max(one.upperBound, other.lowerBound).seconds
            }
        }
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}
