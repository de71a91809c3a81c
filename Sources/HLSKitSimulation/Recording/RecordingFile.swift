import Glibc
import HLSKitCore
import Synchronization

/// The file of a recording in progress. Lines are written immediately, so that little is lost if the process ends.
final class RecordingFile: Sendable {
    private struct State {
        var descriptor: Int32
        var failure: HLSError?
    }

    private let state: Mutex<State>

    /// Creates the file, with access for its owner only because it may contain keys.
    init(path: String, overwrite: Bool) throws(HLSError) {
        let descriptor: Int32
        do {
            descriptor = try SafeFile.create(path, overwrite: overwrite)
        } catch {
            throw HLSError.simulation("cannot create: \(error.text)")
        }
        state = Mutex(State(descriptor: descriptor))
    }

    deinit {
        let descriptor = state.withLock { $0.descriptor }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Writes a line. Does nothing after the first failure.
    func write(_ line: RecordingLine) {
        let bytes = line.bytes
        state.withLock { state in
            guard state.failure == nil, state.descriptor >= 0 else { return }
            if !Descriptor.write(bytes, to: state.descriptor) { state.failure = Self.error("cannot write") }
        }
    }

    /// Closes the file and throws the first error.
    func finish() throws(HLSError) {
        let failure = state.withLock { state -> HLSError? in
            if state.descriptor >= 0, close(state.descriptor) != 0, state.failure == nil {
                state.failure = Self.error("cannot write")
            }
            state.descriptor = -1
            return state.failure
        }
        if let failure { throw failure }
    }

    static func read(
        _ path: String, _ body: (ArraySlice<UInt8>) throws(HLSError) -> Void
    ) throws(HLSError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw error("cannot open") }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw error("cannot read") }
            guard count > 0 else { return }
            try body(buffer[..<count])
        }
    }

    private static func error(_ what: String) -> HLSError {
        HLSError.simulation("\(what): \(String(cString: strerror(errno)))")
    }
}
