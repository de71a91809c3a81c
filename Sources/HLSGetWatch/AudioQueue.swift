/// Audio samples placed on the device's timeline, with silence in between.
///
/// Positions count the samples per channel ("frames") that the device has requested since it was opened.
struct AudioQueue {
    private struct Run {
        var start: Int
        var samples: [Float]
        var source: Int
    }

    /// Audio that is off by at most this many frames is appended without a gap.
    let tolerance: Int
    let channelCount: Int
    /// The maximum distance of buffered audio from the current position, in frames.
    let capacity: Int
    private var runs: [Run] = []
    private var position = 0
    /// Frames that arrived after their position had been output.
    private(set) var lateFrameCount = 0

    init(channelCount: Int, tolerance: Int, capacity: Int) {
        self.channelCount = max(1, channelCount)
        self.tolerance = tolerance
        self.capacity = capacity
    }

    private func end(of run: Run) -> Int { run.start + run.samples.count / channelCount }

    /// Inserts audio at a position. It replaces existing audio and is dropped if it is too late or too far ahead.
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

    /// Outputs the next frames and fills all of `target`, whose count is a multiple of the channels.
    ///
    /// - Returns: The loudest sample, and whether the output contains any audio.
    @discardableResult
    mutating func take(into target: UnsafeMutableBufferPointer<Float>) -> (peak: Float, isAudio: Bool) {
        target.update(repeating: 0)
        let count = target.count / channelCount
        let range = position..<(position + count)
        var (peak, isAudio): (Float, Bool) = (0, false)
        for run in runs {
            let part = range.clamped(to: run.start..<max(run.start, end(of: run)))
            guard !part.isEmpty else { continue }
            isAudio = true
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
        return (peak, isAudio)
    }

    /// Removes audio that was output. Long runs are trimmed in large steps, so that few samples are moved.
    private mutating func forget() {
        let (position, channelCount) = (position, channelCount)
        runs.removeAll { $0.start + $0.samples.count / channelCount <= position }
        guard let first = runs.first, position - first.start >= 16_384 else { return }
        runs[0].samples.removeFirst((position - first.start) * channelCount)
        runs[0].start = position
    }

    /// Shifts the remaining audio, because positions have changed.
    mutating func shift(by frames: Int) {
        for index in runs.indices { runs[index].start += frames }
    }

    mutating func removeAll(of source: Int) { runs.removeAll { $0.source == source } }
}
