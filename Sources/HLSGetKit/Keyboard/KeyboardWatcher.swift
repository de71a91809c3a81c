// On the allow-list of CI's check for DispatchQueue: nothing here measures or waits for time.
import Dispatch
import Glibc
import Synchronization

/// Reads single keys from the terminal of standard input, and restores its settings on close.
///
/// The terminal's signals (Ctrl-C, Ctrl-Z) still work. After a stop and continue, single-key mode is set again.
package final class KeyboardWatcher: Sendable {
    package let keys: AsyncStream<Key>

    private let descriptor: Int32
    private let original: termios
    nonisolated(unsafe) private let reader: any DispatchSourceRead  // only cancelled, which is thread-safe
    nonisolated(unsafe) private let resumption: any DispatchSourceSignal  // only cancelled, which is thread-safe
    private let isOver = Mutex(false)

    /// Returns `nil` if `descriptor` is not a terminal, or if it belongs to another job. Reading would then stop this
    /// job.
    package init?(descriptor: Int32 = STDIN_FILENO) {
        var settings = termios()
        guard isatty(descriptor) == 1, tcgetpgrp(descriptor) == getpgrp(), tcgetattr(descriptor, &settings) == 0 else {
            return nil
        }
        self.descriptor = descriptor
        original = settings
        let single = Self.singleKeys(settings)
        guard Self.apply(single, to: descriptor) else { return nil }
        let (stream, continuation) = AsyncStream.makeStream(of: Key.self)
        keys = stream
        let queue = DispatchQueue(label: "hlsget.keys")
        reader = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        let source = reader
        let parser = Mutex(KeyParser())
        reader.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else {
                if count == 0 || (errno != EINTR && errno != EAGAIN) { source.cancel() }
                return
            }
            for key in parser.withLock({ $0.parse(bytes.prefix(count)) }) { continuation.yield(key) }
        }
        reader.setCancelHandler { continuation.finish() }
        resumption = DispatchSource.makeSignalSource(signal: SIGCONT, queue: queue)
        resumption.setEventHandler { _ = Self.apply(single, to: descriptor) }
        reader.resume()
        resumption.resume()
    }

    package func close() {
        let wasOver = isOver.withLock { isOver in
            defer { isOver = true }
            return isOver
        }
        guard !wasOver else { return }
        reader.cancel()
        resumption.cancel()
        _ = Self.apply(original, to: descriptor)
    }

    deinit { close() }

    /// Turns off line mode and echo, so that a read returns the available bytes.
    private static func singleKeys(_ settings: termios) -> termios {
        var settings = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        return settings
    }

    private static func apply(_ settings: termios, to descriptor: Int32) -> Bool {
        var settings = settings
        return tcsetattr(descriptor, TCSADRAIN, &settings) == 0
    }
}
