import Glibc
import HLSKitLoading
import HLSKitTime

/// Corrects the predicted rate with facts that whole transfers do not show.
///
/// These are the rate of the last second of receiving, and how strongly the network returns to its mean.
///
/// Rates are natural logarithms of bits per second.
///
/// 1. The progress of a running download gives the rate of the last second. If that rate is above the prediction, the
///    corrected prediction is a little higher and its spread smaller. If it is below, the prediction is lower and the
///    spread larger.
/// 2. Each decision records the distance g of the prediction from the long mean. The rate of the next 20 s has a distance
///    y from the same prediction. The pull is the share of g that the network made up for: Σg·y / Σg². It starts at the
///    pull of an average network. A network that varies around a mean has a pull near 1. A network that moves from one
///    level to the next has none. Only the difference from the usual pull corrects the prediction.
struct RateOutlook: Sendable, Hashable {
    /// Seconds of receiving.
    private static let longHalfLife = 60.0
    private static let recentTime = 1.0
    /// The time (seconds) after which a forecast is compared with the received rate, and the required time of receiving
    /// in it.
    private static let reach = 20.0
    private static let leastReceiving = 0.5
    private static let pendingCount = 40
    private static let furthest = 2.0

    /// The pull of an average network. It has the weight of one forecast at a distance of a factor of e.
    private static let usualPull = 0.2
    private static let memory = 0.98
    /// The share of the difference from the usual pull that corrects the prediction.
    private static let pullGain = 0.4
    /// The weight of the last second in the level and in the logarithm of the spread.
    private static let recentGain = 0.1
    private static let recentTrust = 0.6
    /// The weight of the buffer in the logarithm of the spread: a full buffer narrows it, an empty one widens it.
    private static let bufferTrust = 0.5

    private struct Piece: Hashable {
        var seconds: Double
        var bits: Double
    }

    private struct Forecast: Hashable {
        var time: Double
        var level: Double
        var distance: Double
        var received: Piece
    }

    /// The data of the last second of receiving, oldest first.
    private var recent: [Piece] = []
    private var long = MovingAverage(halfLife: longHalfLife)
    private var received = Piece(seconds: 0, bits: 0)
    private var pending: [Forecast] = []
    private var squares = 1.0
    private var products = usualPull
    /// The start of the running download, and the part of it that is already counted.
    private var running: Duration?
    private var taken = Piece(seconds: 0, bits: 0)

    /// The share of its distance from the long mean that this network makes up for in 20 s.
    var pull: Double { min(1, max(0, products / squares)) }

    mutating func look(at download: SelectionInput.Download, now: Duration) {
        guard let firstByte = download.firstByte else { return }
        if running != download.requested { begin(download.requested) }
        take(Piece(seconds: (now - firstByte).seconds, bits: 8 * Double(download.receivedByteCount)))
    }

    /// - Parameter bits: The bits of all transfers in that time.
    mutating func end(_ transfer: MeasuredTransfer, bits: Double, seconds: Double) {
        if running != transfer.requested { begin(nil) }
        // The progress of this transfer did not include concurrent transfers.
        let share = 8 * Double(transfer.byteCount) / max(1, bits)
        take(Piece(seconds: seconds, bits: 8 * Double(transfer.byteCount)), share: share)
        begin(nil)
        long.add(bits / max(seconds, 0.001), weight: seconds)
        received.seconds += seconds
        received.bits += bits
    }

    private mutating func begin(_ requested: Duration?) {
        running = requested
        taken = Piece(seconds: 0, bits: 0)
    }

    private mutating func take(_ whole: Piece, share: Double = 1) {
        let piece = Piece(seconds: whole.seconds - taken.seconds, bits: max(0, whole.bits - taken.bits))
        guard piece.seconds > 1e-9 else { return }
        taken = whole
        recent.append(Piece(seconds: piece.seconds, bits: piece.bits / max(share, 0.1)))
        var time = recent.reduce(0) { $0 + $1.seconds }
        while let first = recent.first, time - first.seconds >= Self.recentTime {
            time -= first.seconds
            recent.removeFirst()
        }
    }

    /// Returns the distance of the last second from `level`, limited to a factor of e.
    private func surprise(at level: Double) -> Double {
        var bits = 0.0
        var time = 0.0
        for piece in recent.reversed() where time < Self.recentTime {
            let part = min(piece.seconds, Self.recentTime - time)
            bits += piece.bits * part / piece.seconds
            time += part
        }
        guard time > 0 else { return 0 }
        return min(1, max(-1, RatePredictor.level(bits: bits, seconds: time) - level))
    }

    /// Returns the corrected prediction, and records it for a later comparison.
    ///
    /// - Parameter level: The prediction from whole transfers.
    mutating func expected(at level: Double, now: Duration) -> Double {
        guard let mean = long.value else { return level }
        let time = now.seconds
        learn(at: time)
        let distance = Self.limited(RatePredictor.level(bits: mean, seconds: 1) - level)
        if pending.count < Self.pendingCount {
            pending.append(Forecast(time: time, level: level, distance: distance, received: received))
        }
        return level + Self.recentGain * surprise(at: level) + Self.pullGain * (pull - Self.usualPull) * distance
    }

    /// - Parameter filled: The filled share of the buffer.
    func spreadFactor(at level: Double, filled: Double) -> Double {
        exp(-Self.recentTrust * surprise(at: level) - Self.bufferTrust * (filled - 0.5))
    }

    private mutating func learn(at time: Double) {
        while let forecast = pending.first, time - forecast.time >= Self.reach {
            pending.removeFirst()
            let seconds = received.seconds - forecast.received.seconds
            guard seconds >= Self.leastReceiving else { continue }
            let came = RatePredictor.level(bits: received.bits - forecast.received.bits, seconds: seconds)
            let difference = Self.limited(came - forecast.level)
            squares = Self.memory * squares + forecast.distance * forecast.distance
            products = Self.memory * products + forecast.distance * difference
        }
    }

    private static func limited(_ distance: Double) -> Double { min(furthest, max(-furthest, distance)) }
}
