import HLSKitEngine
import HLSKitLoading

struct BudgetState: Sendable {
    var priority = ResourcePriority.default
    /// The need last announced to the other players, or `nil` if the player does not take part.
    var entry: ResourceLedger.Entry?
    var allowance = LoadAllowance.everything
}

extension PlayerCore: ResourceBudgetMember {
    func allowanceHasChanged() {
        change { state, afterwards, now in self.takeAllowance(&state, &afterwards, at: now) }
    }

    /// Called after each change with the lock held. Announces changed needs and divides the allowance among the items.
    func settleBudget(_ state: inout State, _ afterwards: inout Afterwards, at now: Duration) {
        // An allowance may end its player's need, which changes only the allowances of others.
        while state.budgetEntry != state.budget.entry {
            state.budget.entry = state.budgetEntry
            afterwards.neighbours += configuration.resourceBudget.note(state.budget.entry, of: budgetNumber, self)
            takeAllowance(&state, &afterwards, at: now)
        }
        guard state.budget.allowance != .everything else { return }
        for id in state.playbackIDs {
            let part = state.allowance(of: id)
            state.update(id) { $0.engine.allowance = part }
        }
    }

    private func takeAllowance(_ state: inout State, _ afterwards: inout Afterwards, at now: Duration) {
        let allowance = configuration.resourceBudget.allowance(of: budgetNumber)
        guard allowance != state.budget.allowance else { return }
        state.budget.allowance = allowance
        for id in state.playbackIDs {
            handle(.control(.setAllowance(state.allowance(of: id))), of: id, at: now, &state, &afterwards)
        }
    }
}

extension PlayerCore.State {
    fileprivate var budgetEntry: ResourceLedger.Entry? {
        guard !isClosed, current.item != nil else { return nil }
        return ResourceLedger.Entry(priority: budget.priority, isInNeed: isInNeed)
    }

    private var isInNeed: Bool {
        guard let playingAsset else { return current.engine.isInNeed }
        return others.first { $0.id == playingAsset }?.engine.isInNeed ?? false
    }

    /// Returns the allowance of one item, which is the remainder after the player's other items.
    fileprivate mutating func allowance(of id: Int) -> LoadAllowance {
        var allowance = budget.allowance
        guard allowance.isLimited, !others.isEmpty else { return allowance }
        for other in playbackIDs where other != id {
            guard let held = update(other, { $0.isRetired ? nil : $0.engine.holding }) ?? nil else { continue }
            allowance = allowance.reduced(by: held.byteCount, held.duration)
        }
        return allowance
    }
}
