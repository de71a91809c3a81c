import CLibAV
package import HLSKitLoading

/// The reason why a call to one of FFmpeg's libraries failed.
package struct CodecError: Error, Sendable, Hashable, CustomStringConvertible {
    package var call: String
    /// The result of the call: a negative `AVERROR`.
    package var code: Int32
    package var text: String

    package init(call: String, code: Int32, text: String) {
        self.call = call
        self.code = code
        self.text = text
    }

    package init(call: String, code: Int32) {
        self.init(call: call, code: code, text: Self.words(for: code))
    }

    package var description: String { code == Self.noLibrary ? text : "\(call): \(text) (\(code))" }

    static let outOfMemory = CLibAV_error_errno(ENOMEM)
    package static let invalidArgument = CLibAV_error_errno(EINVAL)
    static let noLibrary = CLibAV_error_errno(ELIBACC)

    private static func words(for code: Int32) -> String {
        // The system's message for this code is useless, and it needs libavutil.
        guard code != noLibrary else { return "a library of FFmpeg is not installed" }
        return libraryWords(for: code)
    }

    private static func libraryWords(for code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(AV_ERROR_MAX_STRING_SIZE)) { buffer in
            buffer.initialize(repeating: 0)
            guard let base = buffer.baseAddress else { return "" }
            // av_strerror writes a generic text for unknown codes, and always terminates it with a zero.
            av_strerror(code, base, buffer.count)
            return String(cString: base)
        }
    }
}

extension CodecError: HLSErrorConvertible {
    package var hlsError: HLSError { HLSError(self, url: nil) }
}

extension LibraryFunctions {
    /// Throws the reason if the library is missing.
    func check() throws(CodecError) {
        guard let failure else { return }
        throw CodecError(call: "dlopen", code: CodecError.noLibrary, text: failure)
    }
}

extension HLSError {
    package init(_ error: CodecError, url: String? = nil) {
        self.init(
            code: .badMedia, urlString: url, cause: "the frame cannot be decoded", detail: error.description,
            underlyingError: error)
    }

    init(converting error: CodecError) {
        self.init(
            code: .conversionFailed, domain: .media, cause: "cannot be converted", detail: error.description,
            underlyingError: error)
    }

    package static func converting<Result>(_ body: () throws(CodecError) -> Result) throws(HLSError) -> Result {
        do { return try body() } catch { throw HLSError(converting: error) }
    }

    package init(_ error: CodecError, path: String) {
        self.init(code: .conversionFailed, path: path, text: error.description)
        underlyingError = error
    }
}

/// Keeps libav's own messages off standard error because all relevant failures are returned as errors.
///
/// If the host app has set a level other than the libraries' default, it does not change.
enum LibAVLog {
    static let silence: Void = {
        if av_log_get_level() == AV_LOG_INFO { av_log_set_level(AV_LOG_QUIET) }
    }()
}
