import HLSKitLoading
import Testing

@testable import HLSKitCodec

@Suite("Functions of libraries that are opened when they are needed")
struct LibraryFunctionsTests {
    private struct Table {
        var isFilled = false
    }

    @Test("a library that is not there has no functions, and is named with Debian's package")
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

    @Test("a package that does not follow the rules is named by who knows it")
    func package() {
        let functions = LibraryFunctions<Table>("libnothing.so.3", package: "nothing") { _, _ in 1 }
        #expect(functions.failure == "libnothing.so.3 is not installed (Debian: nothing)")
        let numbered = LibraryFunctions<Table>("libnothing2.so.3") { _, _ in 1 }
        #expect(numbered.failure == "libnothing2.so.3 is not installed (Debian: libnothing2-3)")
    }

    @Test("a library is open when its functions are looked for, and they stay")
    func present() {
        let functions = LibraryFunctions<Table>("libc.so.6") { table, handle in
            guard handle != nil else { return 0 }
            table?.initialize(to: Table(isFilled: true))
            return 1
        }
        #expect(functions.table?.pointee.isFilled == true)
        #expect(functions.failure == nil)
    }

    @Test("a library that lacks one of the functions is as good as none")
    func incomplete() {
        let functions = LibraryFunctions<Table>("libc.so.6") { _, _ in 0 }
        #expect(functions.table == nil)
        #expect(functions.failure != nil)
    }

    @Test("FFmpeg's libraries have all the functions that are called, and their errors name the package otherwise")
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
