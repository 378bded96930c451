// Places in the control block, which the host reads after each launch.
#pragma once

enum Control { SIZE, NEXT, GROUPS, FLAGS, TURN, LEVELS, EXPANDED, ARRIVED, NEWS, OFF_ROW };
enum Flag : u64 { FAULT = 1, TABLE_FULL = 2, FRONTIER_FULL = 4, TOO_MANY_VALUES = 8, LONG_ROWS = 16 };
