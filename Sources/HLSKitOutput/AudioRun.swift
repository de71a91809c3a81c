/// Gapless audio on the item's timeline, decoded ahead and taken at the current rate.
///
/// Positions are in samples per channel ("frames") from the start of the run. A change of the rate restarts the
/// stretcher at the current position, and fades from the old audio to the new.
struct AudioRun {
    struct Piece {
        var position: Double
        var samples: [Float]
    }

    let start: Duration
    let sampleRate: Int
    let channelCount: Int
    /// The frames from ``base`` on.
    private var samples: [Float] = []
    private var base = 0
    private(set) var position = 0.0
    private var stretcher: AudioTimeStretcher?
    private var anchor = 0.0
    private var takenFrameCount = 0
    private var fedUpTo = 0
    private(set) var isEnded = false
    /// The audio that would have followed at the previous rate.
    private var tail: [Float] = []

    /// 5 ms: long enough to avoid a click, short enough to be inaudible.
    private var fadeFrameCount: Int { sampleRate / 200 }

    init(start: Duration, sampleRate: Int, channelCount: Int) {
        self.start = start
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    var endFrame: Int { base + samples.count / channelCount }
    var end: Duration { time(of: Double(endFrame)) }
    /// Whether only a rounding error remains.
    var isSpent: Bool { isEnded && Double(endFrame) - position < 2 * max(1, stretcher?.rate ?? 1) }

    func time(of position: Double) -> Duration { start + .seconds(1) * (position / Double(sampleRate)) }

    mutating func append(_ new: some Collection<Float>) { samples += new }

    /// Lets the remaining audio be taken without waiting for more.
    mutating func end(_ isEnded: Bool = true) { self.isEnded = isEnded }

    /// Takes the audio up to an item time, or all of it if `time` is `nil`.
    mutating func take(upTo time: Duration?, rate: Double, algorithm: AudioTimePitchAlgorithm) -> Piece? {
        var limit = Double(endFrame)
        if let time { limit = min(limit, ((time - start) / .seconds(1) * Double(sampleRate)).rounded()) }
        adjust(to: rate, algorithm)
        guard limit > position || isEnded else { return nil }
        let began = position
        var result: [Float]
        if let stretcher {
            feed(stretcher)
            let wanted = Int(((limit - anchor) / stretcher.rate).rounded()) - takenFrameCount
            // Stretched pieces do not end exactly with the audio, so the end may arrive early or late.
            result = stretcher.take(wanted)
            takenFrameCount += result.count / channelCount
            position = anchor + Double(takenFrameCount) * stretcher.rate
            if isEnded, limit >= Double(endFrame) { position = limit }
        } else {
            let (from, to) = (Int(position), Int(limit))
            guard to > from else { return nil }
            result = Array(samples[(from - base) * channelCount..<(to - base) * channelCount])
            position = Double(to)
        }
        forget()
        guard !result.isEmpty else { return nil }
        fade(&result)
        return Piece(position: began, samples: result)
    }

    private mutating func adjust(to rate: Double, _ algorithm: AudioTimePitchAlgorithm) {
        // Time has just stopped. The audio that is still due keeps the previous rate.
        guard rate > 0 else { return }
        let isNatural = abs(rate - 1) < 0.001
        if let stretcher, !isNatural, stretcher.rate == rate, stretcher.algorithm == algorithm { return }
        if stretcher == nil, isNatural { return }
        keepTail()
        if isNatural {
            stretcher = nil
            position = position.rounded()
        } else {
            stretcher = AudioTimeStretcher(
                rate: rate, algorithm: algorithm, sampleRate: sampleRate, channelCount: channelCount)
            position = position.rounded()
            anchor = position
            takenFrameCount = 0
            fedUpTo = Int(position)
        }
    }

    /// Keeps the audio that would come next, to fade it out under the new audio. At the start of the run, there is
    /// none.
    private mutating func keepTail() {
        tail = []
        guard position > 0 else { return }
        if let stretcher {
            feed(stretcher)
            tail = stretcher.take(fadeFrameCount)
        } else {
            let from = Int(position)
            let to = min(endFrame, from + fadeFrameCount)
            if to > from { tail = Array(samples[(from - base) * channelCount..<(to - base) * channelCount]) }
        }
    }

    private mutating func fade(_ samples: inout [Float]) {
        guard !tail.isEmpty else { return }
        let count = min(tail.count, samples.count) / channelCount
        for frame in 0..<count {
            let new = Float(frame + 1) / Float(count + 1)
            for channel in 0..<channelCount {
                let index = frame * channelCount + channel
                samples[index] = samples[index] * new + tail[index] * (1 - new)
            }
        }
        tail = []
    }

    private mutating func feed(_ stretcher: AudioTimeStretcher) {
        if fedUpTo < endFrame {
            stretcher.append(samples[((fedUpTo - base) * channelCount)...])
            fedUpTo = endFrame
        }
        if isEnded { stretcher.finish() }
    }

    /// Removes the audio that was heard, except for the frames from which a rate change may start.
    private mutating func forget() {
        let keep = min(Int(position), endFrame)
        guard keep - base >= sampleRate / 10 else { return }
        samples.removeFirst((keep - base) * channelCount)
        base = keep
    }
}
