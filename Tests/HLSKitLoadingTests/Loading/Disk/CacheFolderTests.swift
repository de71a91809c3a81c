import Foundation
import Glibc
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitNetwork

@Suite("D13: Cache folder", .timeLimit(.minutes(10)))
struct CacheFolderTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func folder(_ maximumByteCount: Int) -> CacheFolder {
        CacheFolder(path: scratch.path, maximumByteCount: maximumByteCount) { 1_000_000 }
    }

    private static func name(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }

    private var byteCount: Int {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter { $0.utf8.count == 32 }
                .reduce(0) { sum, name in
                    let size = try FileManager.default.attributesOfItem(atPath: "\(scratch.path)/\(name)")[.size]
                    return sum + (size as? Int ?? 0)
                }
        }
    }

    @Test("files are stored whole, by name, and their total size is known")
    func files() throws {
        let folder = folder(1000)
        #expect(folder.read(Self.name(1)) == nil && folder.byteCount == 0)
        folder.write([1, 2, 3], to: Self.name(1))
        folder.write([4], to: Self.name(2))
        #expect(folder.read(Self.name(1)) == [1, 2, 3] && folder.byteCount == 4)
        folder.write([5, 6], to: Self.name(1))
        #expect(folder.read(Self.name(1)) == [5, 6] && folder.byteCount == 3)
        folder.remove(Self.name(1))
        folder.remove(Self.name(1))
        #expect(folder.read(Self.name(1)) == nil && folder.byteCount == 1)
        folder.write([UInt8](repeating: 0, count: 1001), to: Self.name(3))
        #expect(folder.read(Self.name(3)) == nil && folder.byteCount == 1)
        folder.removeAll()
        #expect(try folder.byteCount == 0 && byteCount == 0)
    }

    @Test("caches that share a folder keep one size and each other's recently used files")
    func shared() throws {
        let (one, other) = (folder(1000), folder(1000))
        for number in 0..<9 { one.write([UInt8](repeating: 0, count: 100), to: Self.name(number)) }
        #expect(other.byteCount == 900)
        #expect(other.read(Self.name(0)) != nil)
        for number in 9..<11 { other.write([UInt8](repeating: 0, count: 100), to: Self.name(number)) }
        // The folder shrinks to nine tenths. Files 1 and 2 are the least recently used.
        #expect(try one.byteCount == 900 && byteCount == 900)
        #expect((0..<11).filter { one.read(Self.name($0)) == nil } == [1, 2])
    }

    @Test("a smaller limit applies from the first use")
    func smaller() throws {
        let large = folder(10_000)
        for number in 0..<10 { large.write([UInt8](repeating: 0, count: 100), to: Self.name(number)) }
        #expect(folder(500).byteCount == 400)
        #expect(try byteCount == 400)
        #expect(large.byteCount == 400)
    }

    @Test("the size limit holds under concurrent writes, reads and removals")
    func concurrent() async throws {
        let folders = (0..<4).map { _ in folder(20_000) }
        let excess = await withTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SplitMix64(seed: UInt64(worker))
                    var excess = 0
                    for _ in 0..<100 {
                        let folder = folders[Int(random.next() % 4)]
                        let (name, count) = (Self.name(Int(random.next() % 60)), Int(random.next() % 2000))
                        switch random.next() % 8 {
                        case 0: folder.remove(name)
                        case 1:
                            let bytes = folder.read(name) ?? []
                            if Set(bytes).count > 1 { Issue.record("\(name) is torn") }
                        default: folder.write([UInt8](repeating: UInt8(worker), count: count), to: name)
                        }
                        excess = max(excess, folder.byteCount - 20_000)
                    }
                    return excess
                }
            }
            return await group.reduce(0, max)
        }
        #expect(excess <= 0)
        let counted = try byteCount
        #expect(counted <= 20_000 && counted > 10_000)
        for folder in folders { #expect(folder.byteCount == counted) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).allSatisfy { !$0.hasPrefix("new-") })
    }

    @Test("while another process holds the lock, nothing is stored, but all is read")
    func locked() throws {
        let folder = folder(1000)
        folder.write([1], to: Self.name(1))
        let descriptor = open("\(scratch.path)/.lock", O_RDWR)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX) == 0)
        folder.write([2], to: Self.name(2))
        #expect(folder.read(Self.name(1)) == [1] && folder.read(Self.name(2)) == nil)
        #expect(folder.byteCount == 1)
        folder.removeAll()
        #expect(folder.read(Self.name(1)) == nil && folder.byteCount == 0)
        flock(descriptor, LOCK_UN)
        folder.write([2], to: Self.name(2))
        #expect(folder.read(Self.name(2)) == [2])
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).count == 2)
    }

    @Test(
        "an impossible size is recounted",
        arguments: [[], [1, 2], [UInt8](repeating: 255, count: 8)] as [[UInt8]])
    func damage(_ bytes: [UInt8]) throws {
        let one = folder(1000)
        one.write([1, 2, 3], to: Self.name(1))
        try Data(bytes).write(to: URL(fileURLWithPath: "\(scratch.path)/.lock"))
        #expect(one.byteCount == 3 && folder(1000).byteCount == 3)
    }

    @Test("a folder works on after its lock, or all of it, was removed")
    func removed() throws {
        let folder = folder(1000)
        folder.write([1], to: Self.name(1))
        try FileManager.default.removeItem(atPath: "\(scratch.path)/.lock")
        folder.write([2, 2], to: Self.name(2))
        #expect(folder.byteCount == 3)
        try FileManager.default.removeItem(atPath: scratch.path)
        folder.write([3], to: Self.name(3))
        #expect(folder.read(Self.name(3)) == nil && folder.byteCount == 0)
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: false)
        folder.write([4], to: Self.name(4))
        #expect(folder.byteCount == 1)
    }
}
