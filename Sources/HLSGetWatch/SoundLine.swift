/// Sound in the order of the device's samples: what comes is put at its place, where nothing is there is silence.
///
/// Places are numbers of samples per channel ("frames") that the device has asked for since it was opened.
struct SoundLine {
    private struct Run {
        var start: Int
        var samples: [Float]
        var source: Int
    }

    /// Sound that stands off its predecessor by less follows it without a gap.
    let tolerance: Int
    let channelCount: Int
    /// Longer than this, in frames, is not held.
    let capacity: Int
    private var runs: [Run] = []
    /// The first frame that was not given out.
    private var position = 0
    /// Frames that came when their place had been given out.
    private(set) var lateFrameCount = 0

    init(channelCount: Int, tolerance: Int, capacity: Int) {
        self.channelCount = max(1, channelCount)
        self.tolerance = tolerance
        self.capacity = capacity
    }

    private func end(of run: Run) -> Int { run.start + run.samples.count / channelCount }

    /// Puts sound at a place. What is there already gives way; what is too late, or too far ahead, is dropped.
    mutating func insert(_ samples: [Float], at place: Int, source: Int = 0) {
        var (start, samples) = (place, samples)
        if let last = runs.last, last.source == source, abs(end(of: last) - start) <= tolerance {
            start = end(of: last)
        }
        let count = samples.count / channelCount
        let (late, overflow) = position.subtractingReportingOverflow(start)
        guard !overflow, start - position < capacity else { return }
        if late > 0 {
            lateFrameCount += min(late, count)
            guard late < count else { return }
            samples.removeFirst(late * channelCount)
            start = position
        }
        guard !samples.isEmpty else { return }
        while let last = runs.last, last.start >= start { runs.removeLast() }
        if let last = runs.last, end(of: last) > start {
            runs[runs.count - 1].samples.removeLast((end(of: last) - start) * channelCount)
        }
        if let last = runs.last, last.source == source, end(of: last) == start {
            runs[runs.count - 1].samples += samples
        } else {
            runs.append(Run(start: start, samples: samples, source: source))
        }
    }

    /// Gives out the next frames: fills all of `target`, whose count is a multiple of the channels.
    ///
    /// - Returns: The loudest sample, and whether any of it is sound.
    @discardableResult
    mutating func take(into target: UnsafeMutableBufferPointer<Float>) -> (peak: Float, isSound: Bool) {
        target.update(repeating: 0)
        let count = target.count / channelCount
        let range = position..<(position + count)
        var (peak, isSound): (Float, Bool) = (0, false)
        for run in runs {
            let part = range.clamped(to: run.start..<max(run.start, end(of: run)))
            guard !part.isEmpty else { continue }
            isSound = true
            let source = (part.lowerBound - run.start) * channelCount
            let place = (part.lowerBound - position) * channelCount
            for index in 0..<part.count * channelCount {
                let sample = run.samples[source + index]
                target[place + index] = sample
                peak = max(peak, abs(sample))
            }
        }
        position += count
        forget()
        return (peak, isSound)
    }

    /// Lets go of what was given out; of a long run in pieces, so that little is moved.
    private mutating func forget() {
        let (position, channelCount) = (position, channelCount)
        runs.removeAll { $0.start + $0.samples.count / channelCount <= position }
        guard let first = runs.first, position - first.start >= 16_384 else { return }
        runs[0].samples.removeFirst((position - first.start) * channelCount)
        runs[0].start = position
    }

    /// Moves what was not given out: places are counted otherwise from now on.
    mutating func shift(by frames: Int) {
        for index in runs.indices { runs[index].start += frames }
    }

    /// Forgets the sound of an item: time has jumped.
    mutating func removeAll(of source: Int) { runs.removeAll { $0.source == source } }
}
