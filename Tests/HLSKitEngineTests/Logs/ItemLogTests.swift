import HLSKitPlaylist
import Testing

@testable import HLSKitEngine

@Suite struct ItemDiaryTests {
    @Test("a diary that keeps the journal of a session is released with its item")
    func goes() {
        weak var left: ItemLog?
        do {
            let diary = ItemLog()
            let journal = SessionLogger(
                session: ItemSession(id: "1", diary: diary), epoch: PlaylistDate(seconds: 0), at: .zero)
            diary.take(.closed(journal))
            #expect(diary.journal?.session.id == "1")
            left = diary
        }
        #expect(left == nil)
    }
}
