import HLSKitLoading
import Testing

@testable import HLSKitCodec

@Suite("Functions of lazily opened libraries")
struct LibraryFunctionsTests {
    private struct Table {
        var isFilled = false
    }

    @Test("a missing library has no functions, and the error names Debian's package")
    func absent() {
        var asked = 0
        let functions = LibraryFunctions<Table>("libnothing-of-the-kind.so.7") { _, _ in
            asked += 1
            return 1
        }
        #expect(functions.table == nil)
        #expect(functions.failure == "libnothing-of-the-kind.so.7 is not installed (Debian: libnothing-of-the-kind7)")
        #expect(asked == 0)
    }

    @Test("a package with an unusual name is named by the library's declaration")
    func package() {
        let functions = LibraryFunctions<Table>("libnothing.so.3", package: "nothing") { _, _ in 1 }
        #expect(functions.failure == "libnothing.so.3 is not installed (Debian: nothing)")
        let numbered = LibraryFunctions<Table>("libnothing2.so.3") { _, _ in 1 }
        #expect(numbered.failure == "libnothing2.so.3 is not installed (Debian: libnothing2-3)")
    }

    @Test("a library is opened when its functions are looked up, and they are kept")
    func present() {
        let functions = LibraryFunctions<Table>("libc.so.6") { table, handle in
            guard handle != nil else { return 0 }
            table?.initialize(to: Table(isFilled: true))
            return 1
        }
        #expect(functions.table?.pointee.isFilled == true)
        #expect(functions.failure == nil)
    }

    @Test("a library that lacks a function counts as missing")
    func incomplete() {
        let functions = LibraryFunctions<Table>("libc.so.6") { _, _ in 0 }
        #expect(functions.table == nil)
        #expect(functions.failure != nil)
    }

    @Test("FFmpeg's libraries have all required functions, or the error names the package")
    func libraries() throws {
        try UtilLibrary.check()
        try CodecLibrary.check()
        try FormatLibrary.check()
        try ScaleLibrary.check()
        try ResampleLibrary.check()
        #expect(CodecLibrary.failure == nil)
        let missing = LibraryFunctions<Table>("libnothing-of-the-kind.so.7") { _, _ in 1 }
        #expect {
            try missing.check()
        } throws: { error in
            "\(error)" == "libnothing-of-the-kind.so.7 is not installed (Debian: libnothing-of-the-kind7)"
        }
    }
}
