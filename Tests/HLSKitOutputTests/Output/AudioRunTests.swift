import Testing

@testable import HLSKitOutput

@Suite("Audio at other rates", .timeLimit(.minutes(10)))
struct SoundRunTests {
    private static let sampleRate = 48_000
    /// The number of samples in one AAC frame.
    private static let step = 1024
    private static let beepInterval = 24_000

    private static func beeps(_ frameCount: Int) -> [Float] {
        (0..<frameCount).map { frame in
            let place = frame % beepInterval
            guard place < 480 else { return 0 }
            return place / 24 % 2 == 0 ? 0.8 : -0.8
        }
    }

    private static func tone(_ frameCount: Int) -> [Float] {
        (0..<frameCount).map { Float(sinOfTurns(Double($0) * 440 / Double(sampleRate))) * 0.5 }
    }

    /// Returns the sine of a number of turns from its series, because the tests import no math library.
    private static func sinOfTurns(_ turns: Double) -> Double {
        var angle = (turns - turns.rounded()) * 2 * .pi
        if angle > .pi / 2 { angle = .pi - angle } else if angle < -.pi / 2 { angle = -.pi - angle }
        let square = angle * angle
        return angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110)))))
    }

    /// Returns the output for `samples`, decoded 8 steps ahead, at the rate that `rate` returns for each position.
    private static func play(
        _ samples: [Float], algorithm: AudioTimePitchAlgorithm = .timeDomain, rate: (Int) -> Double
    ) -> [AudioRun.Piece] {
        var run = AudioRun(start: .zero, sampleRate: sampleRate, channelCount: 1)
        var pieces: [AudioRun.Piece] = []
        for position in stride(from: 0, to: samples.count, by: step) {
            let ahead = min(samples.count, position + step * 9)
            if run.endFrame < ahead { run.append(samples[run.endFrame..<ahead]) }
            let end = min(samples.count, position + step)
            if let piece = run.take(
                upTo: run.time(of: Double(end)), rate: rate(position), algorithm: algorithm)
            {
                pieces.append(piece)
            }
        }
        run.end()
        if let rest = run.take(
            upTo: .seconds(1_000_000), rate: rate(samples.count), algorithm: algorithm)
        {
            pieces.append(rest)
        }
        return pieces
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var rate: Double
        var algorithm: AudioTimePitchAlgorithm = .timeDomain
        var testDescription: String { "\(rate) \(algorithm)" }
    }

    static let cases = [0.5, 0.75, 1, 1.25, 1.5, 2].flatMap { rate in
        [Case(rate: rate), Case(rate: rate, algorithm: .varispeed)]
    }

    @Test(
        "G10: at rate r audio takes 1/r of its time; beeps are within 20 ms of theirs, 30 at half speed",
        arguments: cases)
    func beeps(_ test: Case) {
        let frameCount = Self.sampleRate * 5
        let pieces = Self.play(Self.beeps(frameCount), algorithm: test.algorithm) { _ in test.rate }
        let output = pieces.flatMap(\.samples)
        let expected = Double(frameCount) / test.rate
        #expect(abs(Double(output.count) - expected) < 0.02 * Double(Self.sampleRate), "\(output.count) of \(expected)")
        var onsets: [Int] = []
        for (index, sample) in output.enumerated() where abs(sample) > 0.3 {
            if let last = onsets.last, Double(index - last) < 0.4 * Double(Self.beepInterval) / test.rate { continue }
            onsets.append(index)
        }
        #expect(onsets.count == 10)
        var worst = 0.0
        for (index, onset) in onsets.enumerated() {
            worst = max(
                worst, abs(Double(onset) - Double(index * Self.beepInterval) / test.rate) / Double(Self.sampleRate))
        }
        print("beeps at \(test): worst \(worst * 1000) ms")
        // At lower rates, the pieces of the output are further apart in the source.
        #expect(worst < (test.rate < 0.75 ? 0.030 : 0.020), "\(worst)")
    }

    @Test("G10: audio pieces arrive when due, each with its time", arguments: cases)
    func timing(_ test: Case) {
        let pieces = Self.play(Self.tone(Self.sampleRate * 2), algorithm: test.algorithm) { _ in test.rate }
        var heard = 0.0
        for piece in pieces {
            #expect(abs(piece.position - heard) < 0.005 * Double(Self.sampleRate))
            heard = piece.position + Double(piece.samples.count) * test.rate
        }
    }

    @Test("G10: timeDomain keeps the pitch; with varispeed the pitch follows the rate", arguments: cases)
    func pitch(_ test: Case) {
        let pieces = Self.play(Self.tone(Self.sampleRate * 2), algorithm: test.algorithm) { _ in test.rate }
        let output = pieces.flatMap(\.samples)
        let middle = output[output.count / 4..<output.count * 3 / 4]
        let crossings = zip(middle, middle.dropFirst()).count { $0 < 0 && $1 >= 0 }
        let frequency = Double(crossings) / Double(middle.count) * Double(Self.sampleRate)
        let expected = test.algorithm == .varispeed ? 440 * test.rate : 440
        #expect(abs(frequency - expected) < expected * 0.01, "\(frequency) Hz")
    }

    static let rateLists: [[Double]] = [[1, 1.5, 1], [1, 2, 0.5, 1], [0.75, 1.25], [1.5, 1, 2]]

    @Test("G10: audio continues without a click when the rate changes", arguments: rateLists)
    func changes(_ rates: [Double]) {
        let samples = Self.tone(Self.sampleRate * 3)
        let pieces = Self.play(samples) { rates[min(rates.count - 1, $0 * rates.count / samples.count)] }
        let output = pieces.flatMap(\.samples)
        // The steepest step of the tone is 0.029.
        let steepest = zip(output, output.dropFirst()).map { abs($1 - $0) }.max() ?? 0
        #expect(steepest < 0.06, "\(steepest)")
        let each = Double(samples.count) / Double(rates.count)
        let expected = rates.reduce(0) { $0 + each / $1 }
        #expect(abs(Double(output.count) - expected) < 0.03 * Double(Self.sampleRate), "\(output.count) of \(expected)")
    }

    @Test("G10: muted audio is silence of the right length")
    func muted() {
        let output = Self.play(Self.tone(Self.sampleRate), algorithm: .muted) { _ in 1.5 }.flatMap(\.samples)
        #expect(abs(output.count - 32_000) < 100)
        #expect(output.allSatisfy { $0 == 0 })
        #expect(Self.play(Self.tone(Self.sampleRate), algorithm: .muted) { _ in 1 }.flatMap(\.samples).count == 48_000)
    }

    @Test("J05: at its natural rate audio equals the decoded samples")
    func natural() {
        let samples = Self.tone(Self.sampleRate)
        #expect(Self.play(samples) { _ in 1 }.flatMap(\.samples) == samples)
    }
}
