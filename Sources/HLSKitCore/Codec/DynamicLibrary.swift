import Glibc

/// A shared library that is opened while the program runs, and stays open.
struct DynamicLibrary {
    struct Failure: Error {
        /// The system's words.
        var text: String

        /// The fault of the library: it is not there, or there is something else, such as too few descriptors or too
        /// little memory, or a library that it needs.
        func text(for name: String) -> String {
            let isAbsent = text.hasPrefix("\(name):") && text.hasSuffix("No such file or directory")
            return isAbsent || text.isEmpty ? "\(name) is not installed" : "\(name) cannot be loaded: \(text)"
        }
    }

    private let handle: UnsafeMutableRawPointer

    /// - Parameter name: with its version, such as `libavcodec.so.59`; found where the system's linker finds it.
    init(_ name: String) throws(Failure) {
        guard let handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL) else { throw Self.failure }
        self.handle = handle
    }

    /// A function of the library. The caller answers for its type.
    func symbol<Function>(_ name: String) throws(Failure) -> Function {
        guard let address = dlsym(handle, name) else { throw Self.failure }
        return unsafeBitCast(address, to: Function.self)
    }

    /// Throws why a library is not there.
    static func check<Library>(_ loading: Result<Library, Failure>, _ name: String) throws(CodecError) {
        guard case .failure(let failure) = loading else { return }
        throw CodecError(call: "dlopen", code: CodecError.noLibrary, text: failure.text(for: name))
    }

    private static var failure: Failure { Failure(text: dlerror().map { String(cString: $0) } ?? "") }
}
