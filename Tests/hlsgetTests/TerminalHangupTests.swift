import Glibc
import Testing

@testable import hlsget

@Suite("a terminal that is closed")
struct TerminalHangupTests {
    @Test("it is gone when its other end is closed, and not before; what is no terminal never is")
    func closed() throws {
        let main = posix_openpt(O_RDWR | O_NOCTTY)
        try #require(main >= 0 && grantpt(main) == 0 && unlockpt(main) == 0)
        let other = open(try #require(ptsname(main)), O_RDWR | O_NOCTTY)
        try #require(other >= 0)
        defer { close(other) }
        var pipe: [Int32] = [0, 0]
        try #require(Glibc.pipe(&pipe) == 0)
        let (terminal, none) = (TerminalHangup([pipe[0], other]), TerminalHangup(pipe))
        #expect(!terminal.hasHappened && !none.hasHappened)
        close(main)
        #expect(terminal.hasHappened)
        for descriptor in pipe { close(descriptor) }
        #expect(!none.hasHappened)
    }
}
