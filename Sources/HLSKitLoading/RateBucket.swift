/// A token bucket: how many bytes may still be received now.
package struct RateBucket: Sendable {
    private let bytesPerSecond: Double
    private var tokens: Double
    private var filledAt: Duration

    /// Seconds of the rate that may be saved up: small, so that the limit holds over short times as well.
    private static let capacity = 0.1

    package init(bytesPerSecond: Int, at time: Duration) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
        tokens = self.bytesPerSecond * Self.capacity
        filledAt = time
    }

    /// Adds what has become due.
    package mutating func fill(at time: Duration) {
        tokens = min(
            tokens + bytesPerSecond * ((time - filledAt) / .seconds(1)), bytesPerSecond * Self.capacity)
        filledAt = time
    }

    package var isEmpty: Bool { tokens <= 0 }

    /// Takes bytes out; the bucket may go into debt, which later bytes wait for.
    package mutating func take(_ byteCount: Int) { tokens -= Double(byteCount) }

    /// When it will no longer be empty.
    package var nextFill: Duration { filledAt + .seconds(max(0, -tokens) / bytesPerSecond) + .milliseconds(1) }
}
