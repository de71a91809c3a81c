import HLSKitCore
import Synchronization

/// Ends the making of images at the first signal; what is finished by then is written.
final class Interruption: Sendable {
    private let first = Mutex<Int32?>(nil)
    private let generator: ImageGenerator

    init(_ generator: ImageGenerator) { self.generator = generator }

    /// The first signal; nil where none came.
    var signal: Int32? { first.withLock { $0 } }

    func note(_ signal: Int32) {
        first.withLock { $0 = $0 ?? signal }
        generator.cancelAllImageGeneration()
    }
}
