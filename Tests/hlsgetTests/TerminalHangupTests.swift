import Glibc
import HLSGetKit
import Testing

@Suite("A closed terminal")
struct TerminalHangupTests {
    @Test("a terminal is gone when its other end closes, not before; other files never are")
    func closed() throws {
        let main = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // TIOCSPTLCK and TIOCGPTN unlock the other end and return its number.
        var (lock, number) = (Int32(0), Int32(-1))
        let isUnlocked = ioctl(main, 0x4004_5431, &lock) == 0 && ioctl(main, 0x8004_5430, &number) == 0
        try #require(main >= 0 && isUnlocked)
        let other = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
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
