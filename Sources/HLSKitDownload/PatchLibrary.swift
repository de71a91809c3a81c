import Glibc

/// The functions of libzstd that store bytes as their difference to a reference (`zstd --patch-from`).
///
/// The library is opened on first use and never closed. Functions and constants are from version 1.4 and later (zstd.h,
/// "stable API").
final class PatchLibrary: Sendable {
    typealias Context = OpaquePointer

    /// The library, or `nil` if it is not installed.
    static let installed = PatchLibrary()

    private typealias Make = @convention(c) () -> Context?
    private typealias Free = @convention(c) (Context) -> Int
    private typealias Set = @convention(c) (Context, Int32, Int32) -> Int
    private typealias Refer = @convention(c) (Context, UnsafeRawPointer?, Int) -> Int
    private typealias Code = @convention(c) (Context, UnsafeMutableRawPointer?, Int, UnsafeRawPointer?, Int) -> Int

    private let makeWriter: Make
    private let freeWriter: Free
    private let setWriter: Set
    private let referWriter: Refer
    private let write: Code
    private let makeReader: Make
    private let freeReader: Free
    private let setReader: Set
    private let referReader: Refer
    private let read: Code
    private let largestResult: @convention(c) (Int) -> Int
    private let isError: @convention(c) (Int) -> UInt32

    private init?() {
        guard let library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL) else { return nil }
        func symbol<Function>(_ name: String, as type: Function.Type) -> Function? {
            dlsym(library, "ZSTD_\(name)").map { unsafeBitCast($0, to: type) }
        }
        guard let makeWriter = symbol("createCCtx", as: Make.self), let freeWriter = symbol("freeCCtx", as: Free.self),
            let setWriter = symbol("CCtx_setParameter", as: Set.self),
            let referWriter = symbol("CCtx_refPrefix", as: Refer.self), let write = symbol("compress2", as: Code.self),
            let makeReader = symbol("createDCtx", as: Make.self), let freeReader = symbol("freeDCtx", as: Free.self),
            let setReader = symbol("DCtx_setParameter", as: Set.self),
            let referReader = symbol("DCtx_refPrefix", as: Refer.self),
            let read = symbol("decompressDCtx", as: Code.self),
            let largestResult = symbol("compressBound", as: (@convention(c) (Int) -> Int).self),
            let isError = symbol("isError", as: (@convention(c) (Int) -> UInt32).self)
        else {
            dlclose(library)
            return nil
        }
        self.makeWriter = makeWriter
        self.freeWriter = freeWriter
        self.setWriter = setWriter
        self.referWriter = referWriter
        self.write = write
        self.makeReader = makeReader
        self.freeReader = freeReader
        self.setReader = setReader
        self.referReader = referReader
        self.read = read
        self.largestResult = largestResult
        self.isError = isError
    }

    private enum Parameter {
        static let level: Int32 = 100
        static let windowLog: Int32 = 101
        static let hashLog: Int32 = 102
        static let hasChecksum: Int32 = 201
        static let longestWindowLog: Int32 = 100
    }

    /// The largest window that a decoder accepts by default. All data must fit in one window.
    private static let longestWindowLog = 27

    /// Returns the difference of `bytes` to `reference`, or `nil` if memory is short or the data too large.
    ///
    /// Takes about 10 ms for 2 MB with a reference of 3 MB, and longer with a larger reference.
    func patch(_ bytes: UnsafeRawBufferPointer, from reference: UnsafeRawBufferPointer) -> [UInt8]? {
        let windowLog = Self.logarithm(bytes.count + reference.count)
        guard windowLog <= Self.longestWindowLog, let context = makeWriter() else { return nil }
        defer { _ = freeWriter(context) }
        // Index every fourth position of the reference.
        let hashLog = min(24, max(17, Self.logarithm(reference.count) - 2))
        let parameters = [
            (Parameter.level, 1), (Parameter.windowLog, max(10, windowLog)), (Parameter.hashLog, hashLog),
            (Parameter.hasChecksum, 1),
        ]
        for (parameter, value) in parameters where isError(setWriter(context, parameter, Int32(value))) != 0 {
            return nil
        }
        guard isError(referWriter(context, reference.baseAddress, reference.count)) == 0 else { return nil }
        let limit = largestResult(bytes.count)
        var isDone = false
        let patch = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let result = write(context, buffer.baseAddress, limit, bytes.baseAddress, bytes.count)
            isDone = isError(result) == 0 && result <= limit
            count = isDone ? result : 0
        }
        return isDone ? patch : nil
    }

    /// Restores the bytes from a patch, or returns `nil` if the patch's checksum does not match.
    func bytes(
        _ patch: UnsafeRawBufferPointer, from reference: UnsafeRawBufferPointer, byteCount: Int
    ) -> [UInt8]? {
        guard let context = makeReader() else { return nil }
        defer { _ = freeReader(context) }
        guard isError(setReader(context, Parameter.longestWindowLog, Int32(Self.longestWindowLog))) == 0,
            isError(referReader(context, reference.baseAddress, reference.count)) == 0
        else { return nil }
        var isDone = false
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            let result = read(context, buffer.baseAddress, byteCount, patch.baseAddress, patch.count)
            isDone = isError(result) == 0 && result == byteCount
            count = isDone ? result : 0
        }
        return isDone ? bytes : nil
    }

    private static func logarithm(_ count: Int) -> Int { Int.bitWidth - max(0, count - 1).leadingZeroBitCount }
}
