/// A token bucket that limits the number of bytes to receive.
package struct RateBucket: Sendable {
    private let bytesPerSecond: Double
    private var tokens: Double
    private var filledAt: Duration

    /// The capacity in seconds of the rate. It is small so that the limit also holds over short times.
    private static let capacity = 0.1

    package init(bytesPerSecond: Int, at time: Duration) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
        tokens = self.bytesPerSecond * Self.capacity
        filledAt = time
    }

    package mutating func fill(at time: Duration) {
        tokens = min(
            tokens + bytesPerSecond * ((time - filledAt) / .seconds(1)), bytesPerSecond * Self.capacity)
        filledAt = time
    }

    package var isEmpty: Bool { tokens <= 0 }

    /// Removes tokens for received bytes. The bucket may go into debt, for which later bytes must wait.
    package mutating func take(_ byteCount: Int) { tokens -= Double(byteCount) }

    package var nextFill: Duration { filledAt + .seconds(max(0, -tokens) / bytesPerSecond) + .milliseconds(1) }
}
