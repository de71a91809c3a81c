import Testing

@testable import HLSKitPlayback

@Suite("Unread bytes")
struct UnreadBytesTests {
    @Test("bytes are taken in order, and counted until then")
    func order() {
        var unread = UnreadBytes()
        func taken() -> [UInt8]? { unread.takeFirst() }
        #expect(unread.isEmpty)
        unread.append([1, 2, 3])
        unread.append([4])
        #expect(unread.count == 4)
        #expect(taken() == [1, 2, 3])
        unread.append([5, 6])
        #expect(unread.count == 3)
        #expect(taken() == [4])
        #expect(taken() == [5, 6])
        #expect(taken() == nil)
        #expect(unread.isEmpty && unread.count == 0)
        unread.append([7])
        #expect(taken() == [7])
    }

    @Test("unwanted bytes are removed completely")
    func removal() {
        var unread = UnreadBytes()
        func taken() -> [UInt8]? { unread.takeFirst() }
        unread.append([1])
        _ = unread.takeFirst()
        unread.append([2, 3])
        unread.removeAll()
        #expect(unread.isEmpty && unread.count == 0)
        #expect(taken() == nil)
    }
}
