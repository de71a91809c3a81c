import Glibc

/// Wakes one thread that waits. A ring that nobody waits for is kept for the next wait; many rings count as one.
struct Bell: ~Copyable, Sendable {
    // A pipe: reading blocks until something was written.
    private let readEnd: Int32
    private let writeEnd: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            (readEnd, writeEnd) = (-1, -1)
            return
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A full pipe has rung already.
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
    }

    deinit {
        guard isUsable else { return }
        close(readEnd)
        close(writeEnd)
    }

    /// Whether the system had descriptors left for it.
    var isUsable: Bool { readEnd >= 0 }

    func ring() {
        var byte: UInt8 = 1
        _ = write(writeEnd, &byte, 1)
    }

    func wait() {
        var bytes: (UInt64, UInt64) = (0, 0)
        _ = withUnsafeMutableBytes(of: &bytes) { read(readEnd, $0.baseAddress, $0.count) }
    }
}
