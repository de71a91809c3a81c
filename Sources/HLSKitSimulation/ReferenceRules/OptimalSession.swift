package import HLSKitCore

/// The best session that a player could have over a trace if it knew the future: the reference for all rules.
///
/// A beam search over the variants of all segments with the score of ``SessionScore``. States of one segment that have the
/// same variant and almost the same time and buffer compete, and the best ones remain, so the result is a lower bound of the
/// true optimum. Downloads are sequential and never abandoned.
package struct OptimalSession {
    private let trace: NetworkTrace
    private let movie: MovieFile
    private let bufferLimit: Double
    private let width: Int

    /// Times that are closer than this count as equal, in milliseconds.
    private static let step = 250.0

    /// - Parameter width: The states that remain for each segment.
    package init(trace: NetworkTrace, movie: MovieFile, bufferLimit: Duration, width: Int = 600) throws(HLSError) {
        guard trace.meanBitsPerSecond > 0 else { throw HLSError.simulation("the trace delivers nothing") }
        guard bufferLimit >= movie.segmentDuration else {
            throw HLSError.simulation("the buffer limit is shorter than a segment")
        }
        self.trace = trace
        self.movie = movie
        self.bufferLimit = bufferLimit.milliseconds
        self.width = width
    }

    private struct State {
        var parent: Int32
        var variant: Int32
        var requested: Double
        var done: Double
        /// Media ahead when the segment is complete, in milliseconds.
        var buffer: Double
        var stalled: Double
        var score: Double
    }

    private struct Bucket: Hashable {
        var variant: Int32
        var time: Int32
        var buffer: Int32
    }

    package func session() -> SimulatedSession {
        let rates = movie.averageBitRates.map { $0 / 1e6 }
        let top = rates.last ?? 1
        var layers: [[State]] = []
        for segment in 0..<movie.segmentCount {
            let duration = movie.duration(ofSegment: segment).milliseconds
            var best: [Bucket: State] = [:]
            func add(_ state: State) {
                let bucket = Bucket(
                    variant: state.variant, time: Int32(state.done / Self.step), buffer: Int32(state.buffer / Self.step)
                )
                if let other = best[bucket], other.score >= state.score { return }
                best[bucket] = state
            }
            guard let last = layers.last else {
                for variant in rates.indices {
                    let bits = movie.bitCount(ofSegment: segment, variant: variant)
                    let done = trace.completionTime(ofBits: bits, requestedAt: 0)
                    add(
                        State(
                            parent: -1, variant: Int32(variant), requested: 0, done: done, buffer: duration, stalled: 0,
                            score: rates[variant] - top * done / 1000))
                }
                layers.append(pruned(best))
                continue
            }
            for (index, state) in last.enumerated() {
                // A full buffer has to drain first.
                let wait = max(0, state.buffer + duration - bufferLimit)
                let start = state.done + wait
                for variant in rates.indices {
                    let bits = movie.bitCount(ofSegment: segment, variant: variant)
                    let done = trace.completionTime(ofBits: bits, requestedAt: start)
                    let left = state.buffer - (done - state.done)
                    let stall = max(0, -left)
                    let change = abs(rates[variant] - rates[Int(state.variant)])
                    add(
                        State(
                            parent: Int32(index), variant: Int32(variant), requested: start, done: done,
                            buffer: max(0, left) + duration, stalled: stall,
                            score: state.score + rates[variant] - change - top * stall / 1000))
                }
            }
            layers.append(pruned(best))
        }
        return session(of: layers)
    }

    private func pruned(_ states: [Bucket: State]) -> [State] {
        // The order of a dictionary differs from run to run, but the order of equal scores must not.
        let sorted = states.values.sorted {
            ($0.score, $0.buffer, $1.done, $1.variant) > ($1.score, $1.buffer, $0.done, $0.variant)
        }
        return Array(sorted.prefix(width))
    }

    private func session(of layers: [[State]]) -> SimulatedSession {
        var session = SimulatedSession(movie: movie, bufferLimit: .milliseconds(rounding: bufferLimit))
        var path: [State] = []
        var index = 0
        for layer in layers.reversed() {
            path.append(layer[index])
            index = Int(layer[index].parent)
        }
        path.reverse()
        for (number, state) in path.enumerated() {
            session.segments.append(
                .init(
                    index: number, variant: Int(state.variant), requested: state.requested,
                    firstByte: state.requested + trace.latency(at: state.requested), done: state.done,
                    bitCount: movie.bitCount(ofSegment: number, variant: Int(state.variant)), buffered: state.buffer))
            if state.stalled > 0 { session.stalls.append(state.done - state.stalled) }
            if number == 0 || state.stalled > 0 { session.starts.append(state.done) }
        }
        if let last = path.last { session.end = last.done + last.buffer }
        return session
    }
}
